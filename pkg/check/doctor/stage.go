package doctor

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
)

// Bounds on what an installation holds: files, and bytes in them.
const (
	maxFiles = 20_000
	maxTotal = 1 << 30
)

// A stage is a directory that fills with files of others: nothing gets out of it, and no
// more into it than an installation holds.
type stage struct {
	ctx   context.Context
	root  *os.Root
	files int
	bytes int64
}

var errTooMuch = fmt.Errorf("more than %d files or %d bytes", maxFiles, int64(maxTotal))

func invalid(format string, args ...any) error {
	return &failure{"self.upgrade_stage_invalid", fmt.Sprintf(format, args...), cli.ExitFailed}
}

// put adds a file. Only its execute bit is taken over.
func (s *stage) put(name string, exec bool, content io.Reader) error {
	if err := context.Cause(s.ctx); err != nil {
		return err
	}
	if s.files++; s.files > maxFiles {
		return errTooMuch
	}
	if err := s.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if exec {
		mode = 0o755
	}
	out, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(content, maxTotal-s.bytes+1))
	if s.bytes += n; s.bytes > maxTotal {
		err = errTooMuch
	}
	return errors.Join(err, out.Chmod(mode), out.Close())
}

// link adds a symbolic link, which may only lead to a file beside it.
func (s *stage) link(name, target string) error {
	if target == "" || strings.ContainsAny(target, `/\`) || target == "." || target == ".." {
		return fmt.Errorf("%s: a link to %s", name, target)
	}
	if s.files++; s.files > maxFiles {
		return errTooMuch
	}
	if err := s.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	return s.root.Symlink(target, name)
}

// below is the name of an entry of an archive without the one directory at its top, "" for
// that itself.
func below(name string) (string, error) {
	clean := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	_, rest, _ := strings.Cut(strings.TrimPrefix(clean, "./"), "/")
	if !filepath.IsLocal(filepath.FromSlash(clean)) || rest != "" && !filepath.IsLocal(filepath.FromSlash(rest)) {
		return "", fmt.Errorf("%q leads out of the archive", name)
	}
	return rest, nil
}

// unpack puts the files of an archive, tar.gz or zip, into the stage.
func unpack(ctx context.Context, f *os.File, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	s := &stage{ctx: ctx, root: root}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var start [2]byte
	if _, err = f.ReadAt(start[:], 0); err == nil {
		if _, err = f.Seek(0, io.SeekStart); err == nil && string(start[:]) == "PK" {
			err = s.unzip(f, info.Size())
		} else if err == nil {
			err = s.untar(f)
		}
	}
	if err == nil || context.Cause(ctx) != nil {
		return context.Cause(ctx)
	}
	return invalid("the archive cannot be used: %v", fsys.Cause(err))
}

func (s *stage) untar(f io.Reader) error {
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	// What stands between the files is bounded as well.
	bounded := &io.LimitedReader{R: unzipped, N: 2 * (maxTotal - s.bytes)}
	for t := tar.NewReader(bounded); ; {
		h, err := t.Next()
		switch {
		case err == io.EOF && bounded.N <= 0:
			return errTooMuch
		case err == io.EOF:
			return nil
		case err != nil && !errors.Is(err, tar.ErrInsecurePath):
			return err
		}
		name, err := below(h.Name)
		if err != nil {
			return err
		}
		switch {
		case name == "" || h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader:
		case h.Typeflag == tar.TypeReg:
			err = s.put(name, h.Mode&0o100 != 0, t)
		case h.Typeflag == tar.TypeSymlink:
			err = s.link(name, h.Linkname)
		default:
			err = fmt.Errorf("%s: neither a file nor a directory", h.Name)
		}
		if err != nil {
			return err
		}
	}
}

func (s *stage) unzip(f io.ReaderAt, size int64) error {
	z, err := zip.NewReader(f, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return err
	}
	for _, entry := range z.File {
		name, err := below(entry.Name)
		if err != nil {
			return err
		}
		if name == "" || entry.Mode().IsDir() {
			continue
		}
		if !entry.Mode().IsRegular() {
			return fmt.Errorf("%s: neither a file nor a directory", entry.Name)
		}
		content, err := entry.Open()
		if err != nil {
			return err
		}
		err = s.put(name, entry.Mode()&0o100 != 0, content)
		content.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// copyTree puts the files of a directory into the stage, but for .git.
func copyTree(ctx context.Context, from, to string) error {
	in, err := os.OpenRoot(from)
	if err != nil {
		return &failure{"self.upgrade_stage_failed", from + ": " + fsys.Cause(err).Error(), cli.ExitFailed}
	}
	defer in.Close()
	out, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer out.Close()
	s := &stage{ctx: ctx, root: out}
	err = fs.WalkDir(in.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name == ".git":
			return fs.SkipDir
		case d.IsDir():
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			target, err := in.Readlink(name)
			if err != nil {
				return err
			}
			return s.link(name, target)
		}
		f, err := boundedfile.OpenIn(in, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		return s.put(name, info.Mode()&0o100 != 0, f)
	})
	if err == nil || context.Cause(ctx) != nil {
		return context.Cause(ctx)
	}
	return &failure{"self.upgrade_stage_failed", from + ": " + err.Error(), cli.ExitFailed}
}
