// Package file is the provider of local files. It reads only regular files below its roots. No URI,
// symbolic link or concurrent change makes it open a file outside the roots, or reveals whether
// that file exists.
package file

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/filecache"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/text/ascii"
)

// Provider reads files. The zero value has no roots, so it reads nothing.
type Provider struct {
	// Dir is the project directory, the base of relative paths.
	Dir string
	// Roots returns the directories and files that may be read, as absolute paths. Paths that do
	// not exist are ignored.
	Roots func() []string
	// Files reads small files. If it is nil, no texts are kept.
	Files *filecache.Cache
}

// Read returns the content of the file that a URI names.
func (p *Provider) Read(ctx context.Context, uri string, limit int) ([]byte, error) {
	list, plain, err := names(uri, p.Dir)
	if err != nil {
		return nil, err
	}
	roots := p.Roots()
	if ctx.Err() == nil && below(roots, list[0]) {
		if data, ok := p.Files.Read(list[0], limit); ok {
			return data, nil
		}
	}
	f, err := find(roots, list, plain)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return content(ctx, f, limit)
}

// below reports whether a path is below one of the roots by its name.
func below(roots []string, path string) bool {
	return slices.ContainsFunc(roots, func(root string) bool { return path != root && fsys.Within(root, path) })
}

// find opens the first readable file in a list of paths from [names]. plain is the index of the plain path.
func find(roots, list []string, plain int) (*os.File, error) {
	failure := provider.ErrNotFound
	for i, path := range list {
		f, err := open(roots, path)
		if err == nil {
			return f, nil
		}
		if i == plain {
			failure = err
		}
		if i >= plain && err != provider.ErrNotFound {
			break // the plain path is outside the roots, so later paths are not tried
		}
	}
	return nil, failure
}

// open opens a regular file below one of the roots.
func open(roots []string, path string) (*os.File, *provider.Failure) {
	if f := openDirectly(roots, path); f != nil {
		return f, nil
	}
	if !onVolumeOf(roots, path) {
		return nil, provider.ErrDenied
	}
	resolved, ok := fsys.Follow(path, false)
	if !ok {
		return nil, provider.ErrDenied
	}
	for _, root := range roots {
		base, err := filepath.EvalSymlinks(root)
		if err != nil || !fsys.Within(base, resolved) {
			continue
		}
		f, err := boundedfile.OpenBelow(base, resolved)
		switch {
		case err == nil:
			return f, nil
		case fsys.Escapes(err):
			return nil, provider.ErrDenied
		}
		return nil, provider.ErrNotFound
	}
	return nil, provider.ErrDenied
}

// openDirectly needs few system calls. It opens a file if its path is below a root by name and no link leads out of
// the root. If it returns nil, the complete check must decide.
func openDirectly(roots []string, path string) *os.File {
	for _, root := range roots {
		if path != root && fsys.Within(root, path) {
			if f, err := boundedfile.OpenBelow(root, path); err == nil {
				return f
			}
		}
	}
	return nil
}

// onVolumeOf reports whether a path is on the volume of a root. On Windows, even a stat of
// \\host\share contacts that host. So paths on other volumes are refused before any access.
func onVolumeOf(roots []string, path string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return ascii.EqualFold(filepath.VolumeName(root), filepath.VolumeName(path))
	})
}

// portion limits the bytes that are read between two checks of the context.
const portion = 4 << 20

// content reads a file, which may change its size during the call. The buffer has the size of the
// file, so usually one read is enough.
func content(ctx context.Context, f *os.File, limit int) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, provider.ErrNotFound
	}
	if info.Size() > int64(limit) {
		return nil, provider.OverLimit(limit)
	}
	data := make([]byte, 0, info.Size()+1) // one more byte, because files of /proc report size 0
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
		case err == io.EOF, n > 0 && int64(len(data)) == info.Size(): // the whole file was read
			return data, nil
		case err != nil:
			return nil, provider.ErrNotFound
		}
	}
	return nil, context.Cause(ctx)
}

// settled is the minimum age of a change. It is longer than the resolution of a file system's clock, within which two
// changes get the same time.
const settled = 2 * time.Second

// Stamp returns the stamp of a file without opening the file. ok is false for recent changes and
// for empty files, because files of /proc report size 0. Stamp does not check the roots: the caller
// uses it only to decide whether to call Read.
func (p *Provider) Stamp(uri string) (s provider.Stamp, ok bool) {
	list, plain, err := names(uri, p.Dir)
	if err != nil || plain > 0 || !onVolumeOf(p.Roots(), list[0]) {
		return s, false
	}
	s = folder.StampOfTarget(list[0])
	age := time.Since(time.Unix(0, max(s.Mtime, s.Ctime)))
	return s, s.IsFile() && s.Size > 0 && age > settled
}

var (
	errURI  = &provider.Failure{Status: provider.Invalid, Message: "Invalid file URI"}
	errHome = &provider.Failure{Status: provider.Invalid,
		Message: "Invalid file URI: ~ is not expanded; write the whole path"}
)

// names returns the absolute, clean paths that a URI can mean, in the order in which they are tried. plain is the index
// of the plain path: without query and fragment, and with escapes decoded once. Earlier paths include the query,
// because a file name may contain a question mark. The path after plain keeps its escapes. dir is the base of relative
// paths.
func names(uri, dir string) (list []string, plain int, err error) {
	if uri == "" || strings.ContainsRune(uri, 0) {
		return nil, 0, errURI
	}
	full := withoutScheme(uri)
	cut := full
	if at := strings.IndexAny(full, "?#"); at >= 0 {
		cut = full[:at]
	}
	for _, name := range []string{full, cut} {
		if name == cut {
			plain = len(list)
		}
		decoded := unescape(name)
		if strings.ContainsRune(decoded, 0) {
			return nil, 0, errURI
		}
		if strings.HasPrefix(decoded, "~/") {
			return nil, 0, errHome
		}
		list = append(list, absolute(decoded, dir))
		if decoded != name {
			list = append(list, absolute(name, dir))
		}
		if full == cut {
			break
		}
	}
	return list, plain, nil
}

// withoutScheme converts a file URI to a path, absolute or relative to the project. It returns a text without a scheme
// unchanged.
func withoutScheme(uri string) string {
	name, ok := ascii.CutPrefixFold(uri, "file://")
	if !ok {
		return uri
	}
	if path, ok := ascii.CutPrefixFold(name, "localhost/"); ok {
		name = "/" + path
	}
	if drive := strings.TrimPrefix(name, "/"); hasDrive(drive) {
		if runtime.GOOS == "windows" {
			return drive
		}
		return "/" + ascii.Lower(drive[:1]) + drive[2:] // the form of Git Bash
	}
	return name
}

// hasDrive reports whether a name begins with a drive letter, a colon and a slash: "C:/".
func hasDrive(name string) bool {
	return len(name) >= 3 && name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z' && name[1] == ':' &&
		(name[2] == '/' || name[2] == '\\' && runtime.GOOS == "windows")
}

func absolute(name, dir string) string {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// unescape decodes percent escapes once. It keeps malformed escapes.
func unescape(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "%")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if c, err := strconv.ParseUint(after[:min(2, len(after))], 16, 8); err == nil && len(after) > 1 {
			b.WriteByte(byte(c))
			s = after[2:]
		} else {
			b.WriteByte('%')
			s = after
		}
	}
}
