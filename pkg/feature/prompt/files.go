package prompt

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"unicode/utf8"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/filecache"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
)

// files reads files below the prompts directory, and refuses paths that lead out of it (T-804).
type files struct {
	dir  string
	root *os.Root // of dir, or nil before it is needed
	max  int      // maximum size of a file, which is the limit of a response (T-809)
	kept *filecache.Cache
}

func newFiles(p *project.Project, kept *filecache.Cache) *files {
	return &files{dir: p.Prompts, max: p.Limits.Response, kept: kept}
}

func (f *filler) embedded(path string) ([]byte, error) {
	data, err := f.files.bytes(path)
	if err == nil {
		err = f.room.take(len(data))
	}
	return data, err
}

func (f *files) close() {
	if f.root != nil {
		f.root.Close()
	}
}

func (f *files) bytes(path string) ([]byte, error) {
	path = filepath.FromSlash(path)
	if !filepath.IsLocal(path) {
		return nil, fmt.Errorf("%s leads out of the prompts directory", path)
	}
	if filepath.Clean(path) == path { // "file/" is not a file
		if data, ok := f.kept.Read(filepath.Join(f.dir, path), f.max); ok {
			return data, nil
		}
	}
	if f.root == nil {
		root, err := os.OpenRoot(f.dir)
		if err != nil {
			return nil, err
		}
		f.root = root
	}
	file, err := boundedfile.OpenIn(f.root, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if info.Size() > int64(f.max) {
		return nil, fmt.Errorf("%s: %w", path, errTooLarge)
	}
	data := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	// The limit also applies to a file that grows.
	if _, err := data.ReadFrom(io.LimitReader(file, int64(f.max))); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data.Bytes(), nil
}

// text reads a template, without NUL bytes and final line breaks.
func (f *files) text(path string) (string, error) {
	data, err := f.bytes(path)
	if err != nil {
		return "", err
	}
	data = bytes.TrimPrefix(data, rawjson.ByteOrderMark)
	if !utf8.Valid(data) {
		data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	}
	if bytes.IndexByte(data, 0) >= 0 {
		data = bytes.ReplaceAll(data, []byte{0}, nil)
	}
	return string(bytes.TrimRight(data, "\r\n")), nil
}
