// Package state keeps the position in the records, and the counts of the metrics, in a file. The file is replaced as a
// whole, and belongs to one process at a time.
package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"mcp-bash/otel/internal/source"
	"mcp-bash/otel/internal/telemetry"
	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/boundedfile"
)

const (
	version = 1
	maxSize = 16 << 20
)

// A State has the data that the next process needs.
type State struct {
	Version    int                        `json:"version"`
	Records    map[string]source.Position `json:"records"`
	Histograms *telemetry.Histograms      `json:"histograms"`
}

// A File is the file of a state.
type File struct {
	dir  *os.Root
	name string
	lock *os.File
}

// ErrLocked is the error for a file that another process uses.
var ErrLocked = errors.New("another mcp-otel uses it")

// Open locks a file, which need not exist.
func Open(path string) (*File, error) {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	f := &File{dir: dir, name: filepath.Base(path)}
	if f.lock, err = dir.OpenFile(f.name+".lock", os.O_RDWR|os.O_CREATE|boundedfile.NonBlock, 0o600); err != nil {
		dir.Close()
		return nil, err
	}
	locked, err := atomicfile.TryLock(f.lock)
	if err == nil && !locked {
		err = ErrLocked
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Load returns the state. It is empty if the file does not exist.
func (f *File) Load() (s State, err error) {
	s = State{Version: version, Histograms: telemetry.NewHistograms()}
	text, err := boundedfile.ReadIn(f.dir, f.name, maxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("not a state of mcp-otel: %w", err)
	}
	if s.Version != version || s.Histograms == nil {
		return s, fmt.Errorf("version %d is not %d", s.Version, version)
	}
	for name, p := range s.Records {
		if filepath.Base(name) != name || p.Offset < 0 || p.Seq < 0 {
			return s, fmt.Errorf("the position in %q is invalid", name)
		}
	}
	return s, s.Histograms.Check()
}

// Save replaces the file.
func (f *File) Save(s State) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = atomicfile.Write(f.dir, f.name, append(text, '\n'))
	return err
}

// Close releases the file.
func (f *File) Close() {
	f.lock.Close()
	f.dir.Close()
}
