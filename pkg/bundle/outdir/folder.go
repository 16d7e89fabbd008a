package outdir

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/swap"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
)

// Sums are the SHA-256 hashes of a folder's files, in hexadecimal digits, by their names.
type Sums map[string]string

// Read returns the hashes of the files below a directory, except one. visit is called for every file. It may be nil. A
// file that is not regular has the hash "".
func Read(root *os.Root, except string, visit func(f mcpb.File, isRegular bool)) (Sums, error) {
	sums := Sums{}
	return sums, mcpb.Walk(root, func(f mcpb.File, isRegular bool) (err error) {
		if f.Name == except {
			return nil
		}
		if sums[f.Name] = ""; isRegular {
			if sums[f.Name], err = f.Sum(); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		if visit != nil {
			visit(f, isRegular)
		}
		return nil
	})
}

// Recorded returns the hashes that a JSON object has.
func Recorded(object json.RawMessage) Sums {
	sums := Sums{}
	for _, m := range rawjson.Members(object) {
		sums[m.Name], _ = rawjson.Text(m.Value)
	}
	return sums
}

// Changes returns the files whose hashes are others than those that were recorded, such as "a: missing".
func (recorded Sums) Changes(now Sums) (list []string) {
	for name, want := range recorded {
		switch got, ok := now[name]; {
		case !ok:
			list = append(list, name+": missing")
		case got != want:
			list = append(list, name+": changed")
		}
	}
	for name := range now {
		if _, ok := recorded[name]; !ok {
			list = append(list, name+": added")
		}
	}
	slices.Sort(list)
	return list
}

// CheckReplaceable returns an error unless a path is missing, an empty directory, or a directory with a file named
// mark. A command recognizes by this file what it made.
func CheckReplaceable(dir, mark string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) == 0:
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(mark))); err != nil {
		return fmt.Errorf("%s: a directory with other files; move it away, or choose another path with --output", dir)
	}
	return nil
}

// Replace puts a folder of files in the place of another one, which may be missing. It does so in one step, when the
// new folder is complete. After an error the old one is unchanged. record returns further files for the hashes of the
// others, and check is called before the last step. Both may be nil.
func Replace(ctx context.Context, dir string, files []mcpb.File, record func(Sums) []mcpb.File,
	check func() error) (Sums, error) {
	parent, name := filepath.Split(dir)
	in, err := os.OpenRoot(parent)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	hidden := "." + strings.TrimPrefix(name, ".")
	newName, oldName := hidden+".new-", hidden+".old-"
	project.Sweep(in, newName)
	project.Sweep(in, oldName)
	fresh := newName + rand.Text()
	if err := in.Mkdir(fresh, 0o755); err != nil {
		return nil, err
	}
	defer in.RemoveAll(fresh) // no longer exists after it was renamed
	sums := Sums{}
	write := func(files []mcpb.File) error {
		for _, f := range files {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			sum, _, err := f.Create(in, path.Join(fresh, f.Name), true)
			if err != nil {
				return fmt.Errorf("%s: %w", f.Name, fsys.Cause(err))
			}
			sums[f.Name] = sum
		}
		return nil
	}
	if err := write(files); err != nil {
		return nil, err
	}
	if record != nil {
		if err := write(record(sums)); err != nil {
			return nil, err
		}
	}
	if check != nil {
		if err := check(); err != nil {
			return nil, err
		}
	}
	old, err := swap.Replace(dir, filepath.Join(parent, fresh), filepath.Join(parent, oldName+rand.Text()))
	if err == nil && old != "" {
		err = in.RemoveAll(filepath.Base(old))
	}
	return sums, err
}
