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

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/outdir"
	"mcp-bash/pkg/bundle/stage"
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
	dir := i.WorkDir("image")
	if !isArchive {
		dir = filepath.Join(filepath.Dir(out), "."+filepath.Base(out)+".tmp-"+rand.Text())
		defer os.RemoveAll(dir) // nothing, once it has its name
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	if err := build(ctx, dir); err != nil {
		return err
	}
	if isArchive {
		r := stage.Result{Path: out}
		err := i.WriteFile(ctx, &r, func(_ *os.File, w io.Writer) error { return writeTar(w, dir, i.Modified) })
		i.r.Bytes = r.Bytes
		return err
	}
	if i.r.Bytes, err = setModes(dir); err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		var old string
		if old, err = swap.Replace(out, dir, dir+".old"); err == nil && old != "" {
			err = os.RemoveAll(old)
		}
	}
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	return nil
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
		if d.IsDir() || info.Mode()&0o100 != 0 {
			return os.Chmod(file, 0o755)
		}
		return os.Chmod(file, 0o644)
	})
	return size, err
}

// writeTar writes the files below a directory as an archive.
func writeTar(w io.Writer, dir string, modified time.Time) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	files, err := mcpb.Folder(root)
	t := tar.NewWriter(w)
	for _, f := range files {
		if err == nil {
			err = f.WriteTar(t, tar.Header{Name: f.Name, ModTime: modified})
		}
	}
	return errors.Join(err, t.Close())
}
