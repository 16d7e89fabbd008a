package scaffold

import (
	"context"
	_ "embed" // the wrapper
	"errors"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/text/toolnames"
)

// The parts of the wrapper: a script, and the part that reads profiles, which replaces one
// of its lines.
var (
	//go:embed wrapper/wrapper.sh
	wrapper string
	//go:embed wrapper/profiles.sh
	readProfiles string
)

// Wrapper returns a script that starts the server of the directory that it is in. If
// profiles is true, the script first reads the variables that the user's shell profiles
// export (CLI-708, CLI-709).
func Wrapper(profiles bool) string {
	insert := ""
	if profiles {
		_, insert, _ = strings.Cut(readProfiles, "\n") // without the line for linters
		insert += "\n"
	}
	return strings.Replace(wrapper, "# PROFILES\n", insert, 1)
}

// ErrThere is the error for a wrapper whose path already exists (CLI-707).
var ErrThere = errors.New("a file of this name exists")

// WriteWrapper writes a wrapper into a new file.
func WriteWrapper(ctx context.Context, path, text string) (err error) {
	p, err := openPlace(ctx, filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { p.close(err) }()
	name := filepath.Base(path)
	info, err := p.look(name)
	switch {
	case err != nil:
		return err
	case info != nil:
		return ErrThere
	}
	return p.put(file{name, text, modeScript})
}

// IsFileName reports whether a name is a valid file name on every system (CLI-407).
func IsFileName(name string) bool { return toolnames.IsPortable(name) && !isDevice(name) }
