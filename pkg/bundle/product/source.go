package product

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/bundle/image"
	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/files/boundedfile"
)

// A source has the files of a product.
type source struct {
	dir       string // of a folder that is not an image; "" for others
	sha256    string // of a file
	isProject bool   // the folder has a project at its top
	image     []byte // the configuration of an image; nil for others
	each      func(visit func(mcpb.File) error) error
	close     func() error
}

func openSource(file string) (s *source, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return openFolder(file)
	}
	f, err := boundedfile.Open(file)
	if err != nil {
		return nil, err
	}
	s = &source{close: f.Close}
	whole := func() *io.SectionReader { return io.NewSectionReader(f, 0, info.Size()) }
	content := mcpb.File{Open: func() (io.ReadCloser, error) { return io.NopCloser(whole()), nil }}
	if s.sha256, err = content.Sum(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	head := make([]byte, 2)
	f.ReadAt(head, 0) // zeros are the beginning of no product
	switch string(head) {
	case "PK":
		var a *mcpb.Archive
		if a, err = mcpb.Read(f, info.Size()); err == nil {
			s.each = a.Each
		}
	case "\x1f\x8b":
		s.each = func(visit func(mcpb.File) error) error {
			return image.EachOfTar(whole(), func(h *tar.Header, f mcpb.File) error { return inPackage(h, f, visit) })
		}
	default:
		var open image.Opener
		if open, err = image.InTar(whole()); err == nil {
			s.image, s.each, err = image.Read(open)
		}
	}
	if errors.Is(err, image.ErrNoLayout) {
		err = errUnknown
	}
	if err != nil {
		f.Close()
	}
	return s, err
}

func openFolder(dir string) (*source, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	s := &source{close: root.Close}
	if _, err := root.Lstat("oci-layout"); err == nil {
		s.image, s.each, err = image.Read(func(name string) (io.ReadCloser, error) { return boundedfile.OpenIn(root, name) })
		if err != nil {
			root.Close()
		}
		return s, err
	}
	_, err = root.Lstat(metaName)
	s.dir, s.isProject = dir, err == nil
	s.each = func(visit func(mcpb.File) error) error {
		return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || name == "." {
				return err
			}
			return s.inFolder(root, name, d, visit)
		})
	}
	return s, nil
}

// inFolder visits a file of a folder. A project leaves out what its bundle leaves out, and the content of a link is its
// target.
func (s *source) inFolder(root *os.Root, name string, d fs.DirEntry, visit func(mcpb.File) error) error {
	switch {
	case s.isProject && stage.LeavesOut(name, d.IsDir()):
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	case d.IsDir():
		return nil
	case s.isProject && d.Type() == fs.ModeSymlink:
		target, err := root.Readlink(name)
		return errors.Join(err, visit(mcpb.Bytes(name, false, []byte("link to "+target))))
	case !d.Type().IsRegular():
		return fmt.Errorf("%s: not a regular file", name)
	}
	info, err := d.Info()
	if err != nil {
		return err
	}
	f := mcpb.FileIn(root, name)
	f.Exec, f.Size = info.Mode()&0o111 != 0, info.Size()
	return visit(f)
}

// inPackage visits a file of an npm package.
func inPackage(h *tar.Header, f mcpb.File, visit func(mcpb.File) error) error {
	name, ok := strings.CutPrefix(path.Clean(h.Name), "package/")
	switch {
	case h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader:
		return nil
	case !ok || h.Typeflag != tar.TypeReg:
		return fmt.Errorf("%q: not a regular file in the folder package", h.Name)
	}
	f.Name = name
	return visit(f)
}
