package prompt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/project"
)

// files reads what lies below the prompts directory. Paths that lead out of it,
// in whatever way, are refused (PR-4).
type files struct {
	root *os.Root
	max  int
}

func openFiles(p *project.Project) (*files, error) {
	root, err := os.OpenRoot(p.Prompts)
	if err != nil {
		return nil, err
	}
	return &files{root, p.MaxResource}, nil
}

func (f *files) close() { f.root.Close() }

func (f *files) bytes(path string) ([]byte, error) {
	path = filepath.FromSlash(path)
	if !filepath.IsLocal(path) {
		return nil, fmt.Errorf("%s leads out of the prompts directory", path)
	}
	file, err := project.OpenRegular(f.root, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, int64(f.max)+1))
	if err == nil && len(data) > f.max {
		err = errors.New("too large")
	}
	return data, err
}

// text reads a template, without NUL bytes and line breaks at the end.
func (f *files) text(path string) (string, error) {
	data, err := f.bytes(path)
	if err != nil {
		return "", err
	}
	data = bytes.ReplaceAll(bytes.ToValidUTF8(data, []byte("\uFFFD")), []byte{0}, nil)
	return strings.TrimRight(string(data), "\r\n"), nil
}
