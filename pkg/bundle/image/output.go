package image

import (
	"archive/tar"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mcp-bash/pkg/bundle/outdir"
	"mcp-bash/pkg/files/swap"
)

// write makes the image in a new directory, and puts the directory or an archive of it in its place. It keeps what was
// there if that fails. mark is a file by which a directory is known as an image.
func (i *maker) write(ctx context.Context, name, mark string, build func(ctx context.Context, dir string) error) error {
	out, err := filepath.Abs(cmp.Or(i.o.Output, name))
	if err != nil {
		return err
	}
	i.r.Path = out
	isArchive := strings.HasSuffix(out, ".tar")
	if !isArchive {
		if err := outdir.CheckReplaceable(out, mark); err != nil {
			return fmt.Errorf("--output: %w", err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	fresh := filepath.Join(filepath.Dir(out), "."+filepath.Base(out)+".tmp-"+rand.Text())
	defer os.RemoveAll(fresh) // nothing, once it has its name
	dir := fresh
	if isArchive {
		dir = i.WorkDir("image")
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	if err := build(ctx, dir); err != nil {
		return err
	}
	if i.r.Bytes, err = setModes(dir); err == nil && isArchive {
		i.r.Bytes, err = writeTar(fresh, dir, i.Modified)
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	switch {
	case err != nil:
	case isArchive:
		err = os.Rename(fresh, out)
	default:
		var old string
		if old, err = swap.Replace(out, fresh, fresh+".old"); err == nil && old != "" {
			err = os.RemoveAll(old)
		}
	}
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	return nil
}

// modeOf returns the permissions of a file that everybody may read.
func modeOf(info fs.FileInfo) fs.FileMode {
	if info.IsDir() || info.Mode()&0o100 != 0 {
		return 0o755
	}
	return 0o644
}

// setModes sets the permissions of all files below a directory, whatever the umask is. It returns their size.
func setModes(dir string) (size int64, err error) {
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if !d.IsDir() {
			size += info.Size()
		}
		return os.Chmod(file, modeOf(info))
	})
	return size, err
}

// writeTar writes the files below a directory as an archive, and returns its size.
func writeTar(file, dir string, modified time.Time) (size int64, err error) {
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	t := tar.NewWriter(out)
	files := os.DirFS(dir)
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		in, err := files.Open(name)
		if err != nil {
			return err
		}
		defer in.Close()
		h := &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: int64(modeOf(info)), Size: info.Size(), ModTime: modified}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		_, err = io.Copy(t, in)
		return err
	})
	if err = errors.Join(err, t.Close(), out.Sync()); err != nil {
		return 0, err
	}
	info, err := out.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), out.Close()
}
