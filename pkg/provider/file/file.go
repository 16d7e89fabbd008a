package file

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/provider"
)

// Settings say what may be read.
type Settings struct {
	// Dir is what relative paths start from: the project.
	Dir string
	// Roots returns the directories, or files, that may be read: absolute, as
	// the operator wrote them. Those that do not exist count for nothing.
	Roots func() []string
}

// Provider reads files. The zero value reads none.
type Provider struct{ Settings }

// New returns a provider.
func New(s Settings) *Provider { return &Provider{s} }

var (
	errDenied   = &provider.Failure{Status: provider.Denied}
	errNotFound = &provider.Failure{Status: provider.NotFound}
)

// Read returns the content of the file a URI names.
func (p *Provider) Read(ctx context.Context, uri string, limit int) ([]byte, error) {
	f, err := p.find(uri)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return content(ctx, f, limit)
}

// find opens the file.
func (p *Provider) find(uri string) (*os.File, error) {
	list, plain, err := names(uri, p.Dir)
	if err != nil {
		return nil, err
	}
	roots := p.Roots()
	failure := errNotFound
	for i, path := range list {
		f, err := open(roots, path)
		if err == nil {
			return f, nil
		}
		if i == plain {
			failure = err
		}
		if i >= plain && err != errNotFound {
			break // outside, said in the plain way: no second guess
		}
	}
	return nil, failure
}

// open opens a regular file below one of the roots (RES-82 to RES-84).
func open(roots []string, path string) (*os.File, *provider.Failure) {
	if f := openDirectly(roots, path); f != nil {
		return f, nil
	}
	if !onVolumeOf(roots, path) {
		return nil, errDenied
	}
	resolved, ok := resolve(path)
	if !ok {
		return nil, errDenied
	}
	for _, root := range roots {
		base, err := filepath.EvalSymlinks(root)
		if err != nil || !fsys.Within(base, resolved) {
			continue
		}
		f, err := openBelow(base, resolved)
		switch {
		case err == nil:
			return f, nil
		case fsys.Escapes(err):
			return nil, errDenied
		}
		return nil, errNotFound
	}
	return nil, errDenied
}

// openDirectly is the usual case, found with few looks at the disk: the path
// lies below a root by its name, and no link on the way leads out. nil means
// only that it takes the long way to tell.
func openDirectly(roots []string, path string) *os.File {
	for _, root := range roots {
		if path != root && fsys.Within(root, path) {
			if f, err := openBelow(root, path); err == nil {
				return f
			}
		}
	}
	return nil
}

// openBelow opens a file through its root, so that no link on the way, however
// lately it was put there, can lead out. The root may be the file itself. What
// is no regular file is not opened at all: opening alone can do harm to a
// device, or wait for ever.
func openBelow(root, path string) (*os.File, error) {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return nil, err
	}
	if rel == "." {
		if root, rel = filepath.Dir(path), filepath.Base(path); root == path {
			return nil, fs.ErrInvalid // the root directory of the system
		}
	}
	if runtime.GOOS == "windows" && strings.Contains(rel, ":") {
		return nil, fs.ErrNotExist // a stream of a file
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	info, err := dir.Stat(rel)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	return boundedfile.OpenIn(dir, rel)
}

// onVolumeOf: on Windows a path on another volume is refused before it is
// looked at, for a look at \\host\share is already a visit there.
func onVolumeOf(roots []string, path string) bool {
	for _, root := range roots {
		if strings.EqualFold(filepath.VolumeName(root), filepath.VolumeName(path)) {
			return true
		}
	}
	return false
}

// portion is how much is read between two looks at the context, in bytes.
const portion = 4 << 20

// content reads a file that may grow or shrink meanwhile; most often it does
// not, and one buffer of its size is all it takes.
func content(ctx context.Context, f *os.File, limit int) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, errNotFound
	}
	if info.Size() > int64(limit) {
		return nil, provider.OverLimit(limit)
	}
	data := make([]byte, 0, info.Size()+1) // one more, for a file that says it is empty
	for ctx.Err() == nil {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		most := min(cap(data), len(data)+portion, limit+1)
		n, err := f.Read(data[len(data):most])
		data = data[:len(data)+n]
		switch {
		case len(data) > limit:
			return nil, provider.OverLimit(limit)
		case err == io.EOF, n > 0 && int64(len(data)) == info.Size(): // no need to see the end
			return data, nil
		case err != nil:
			return nil, errNotFound
		}
	}
	return nil, context.Cause(ctx)
}
