// Package outdir writes what commands make. [Write] adds files to a folder that has others. [Replace] makes a whole
// folder, which is known again by the hashes of its files.
package outdir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
)

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
		want, err := content(f)
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

func content(f mcpb.File) ([]byte, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(in)
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
		text, err := content(f)
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
