package scaffold

import (
	"context"
	_ "embed" // the wrapper
	"errors"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/toolnames"
)

// The parts of the wrapper: a script, and what is put into it in place of a line to read
// profiles.
var (
	//go:embed wrapper/wrapper.sh
	wrapper string
	//go:embed wrapper/profiles.sh
	readProfiles string
)

// Wrapper is a script that starts the server of the directory that it is in, with what
// the profiles of the user's shell export, if profiles is true (CLI-708, CLI-709).
func Wrapper(profiles bool) string {
	insert := ""
	if profiles {
		_, insert, _ = strings.Cut(readProfiles, "\n") // without the line for linters
		insert += "\n"
	}
	return strings.Replace(wrapper, "# PROFILES\n", insert, 1)
}

// ErrThere is the error for a wrapper where there is something (CLI-707).
var ErrThere = errors.New("there is something of this name")

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

// IsFileName reports whether every system takes a name for that of a file (CLI-407).
func IsFileName(name string) bool { return toolnames.IsPortable(name) && !isDevice(name) }
