// Package outdir writes the output of commands to files. [Write] adds files to a folder that has others. [Replace]
// makes a whole folder, which is known again by the hashes of its files. [Put] writes a file of a cache.
package outdir

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/boundedfile"
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

// SumsOf returns the hashes of files, which are read.
func SumsOf(ctx context.Context, files []mcpb.File) (Sums, error) {
	sums := Sums{}
	for _, f := range files {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		sum, err := f.Sum()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, fsys.Cause(err))
		}
		sums[f.Name] = sum
	}
	return sums, nil
}

// Digest returns the hash of a tree. It orders the names of files by compare, and then adds prefix to each.
func (s Sums) Digest(compare func(a, b string) int, prefix string) string {
	h := sha256.New()
	for _, name := range slices.SortedFunc(maps.Keys(s), compare) {
		fmt.Fprintf(h, "%s%s:%s\n", prefix, name, s[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// AppendTo appends the hashes as an object, by name. [Recorded] reads it.
func (s Sums) AppendTo(b *rawjson.Builder) {
	b.Object()
	for _, name := range slices.Sorted(maps.Keys(s)) {
		b.Name(name).String(s[name])
	}
	b.End()
}

// Recorded returns the hashes that a JSON object has.
func Recorded(object json.RawMessage) Sums {
	sums := Sums{}
	for _, m := range rawjson.Members(object) {
		sums[m.Name], _ = rawjson.Text(m.Value)
	}
	return sums
}

// Changes returns a text for each file whose hash differs from the recorded one, such as "a: missing".
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
// mark. A command adds this file to the directories that it makes.
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

// Replace replaces or creates a folder, in one step after the new folder is complete. After an error the old folder is
// unchanged. check is called before the last step. It may be nil.
func Replace(ctx context.Context, dir string, files []mcpb.File, check func() error) error {
	parent, name := filepath.Split(dir)
	in, err := os.OpenRoot(parent)
	if err != nil {
		return err
	}
	defer in.Close()
	hidden := "." + strings.TrimPrefix(name, ".")
	newName, oldName := hidden+".new-", hidden+".old-"
	project.Sweep(in, newName)
	project.Sweep(in, oldName)
	fresh := newName + rand.Text()
	if err := in.Mkdir(fresh, 0o755); err != nil {
		return fsys.About(err, dir)
	}
	defer in.RemoveAll(fresh) // after the renaming, there is nothing to remove
	for _, f := range files {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if _, _, err := f.Create(in, path.Join(fresh, f.Name), true); err != nil {
			return fmt.Errorf("%s: %w", f.Name, fsys.Cause(err))
		}
	}
	err = fs.WalkDir(in.FS(), fresh, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = in.Chmod(name, 0o755) // the umask may have removed read permissions
		}
		return err
	})
	if err == nil && check != nil {
		err = check()
	}
	if err != nil {
		return err
	}
	old, err := swap.Replace(dir, filepath.Join(parent, fresh), filepath.Join(parent, oldName+rand.Text()))
	if err == nil && old != "" {
		err = in.RemoveAll(filepath.Base(old))
	}
	return err
}

// maxFile limits a file that is compared, in bytes.
const maxFile = 1 << 20

// A State is the result of comparing a file on disk with the file that a command makes.
type State string

// The states. Written means that the file did not exist or was replaced.
const (
	Written   State = "written"
	Unchanged State = "unchanged"
	Missing   State = "missing"
	Different State = "different"
)

// Compare returns the state of each file below a folder.
func Compare(dir string, files []mcpb.File) ([]State, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	states := make([]State, len(files))
	for i, f := range files {
		want, err := f.Read(mcpb.MaxFile)
		if err != nil {
			return nil, err
		}
		switch old, err := boundedfile.ReadIn(root, f.Name, maxFile); {
		case errors.Is(err, fs.ErrNotExist):
			states[i] = Missing
		case err != nil:
			return nil, fmt.Errorf("%s: %w", f.Name, fsys.Cause(err))
		case bytes.Equal(old, want):
			states[i] = Unchanged
		default:
			states[i] = Different
		}
	}
	return states, nil
}

// Write writes the files that are missing or different, each in one step.
func Write(dir string, files []mcpb.File, states []State) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for i, f := range files {
		if states[i] == Unchanged {
			continue
		}
		text, err := f.Read(mcpb.MaxFile)
		if err != nil {
			return err
		}
		if err := root.MkdirAll(path.Dir(f.Name), 0o755); err != nil {
			return err
		}
		if _, err = atomicfile.Write(root, f.Name, text); err == nil {
			err = root.Chmod(f.Name, 0o644)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, fsys.Cause(err))
		}
		states[i] = Written
	}
	return nil
}

// Put writes a file of a cache atomically, and then sets its permissions to mode. It creates a missing folder with mode
// 0700.
func Put(file string, content []byte, mode fs.FileMode) error {
	folder, name := filepath.Split(file)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	project.Sweep(root, name+".tmp-")
	if _, err = atomicfile.Write(root, name, content); err == nil {
		err = root.Chmod(name, mode)
	}
	return err
}
