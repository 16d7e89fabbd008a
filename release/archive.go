package main

import (
	"archive/tar"
	"archive/zip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
)

// An entry is a file or, with a slash at the end of its name, a directory of an
// archive.
type entry struct {
	name string
	exec bool
	file string
}

// entries lists a directory with everything below it, sorted by name. The names in the archive begin with prefix.
func entries(dir, prefix string) (list []entry, err error) {
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		name := path.Join(prefix, filepath.ToSlash(rel))
		if d.IsDir() {
			list = append(list, entry{name: name + "/"})
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s: neither file nor directory", file)
		}
		list = append(list, entry{name, info.Mode()&0o100 != 0, file})
		return nil
	})
	slices.SortFunc(list, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return list, err
}

// writeArchives writes the archive of each system.
func (r *release) writeArchives() error {
	for _, t := range r.trees {
		list, err := entries(t.dir, "mcp-bash")
		if err != nil {
			return err
		}
		if err := packFor(t.Target)(r.asset(t.Archive(runtimes.Tag)), r.time, list); err != nil {
			return err
		}
	}
	return nil
}

// packFor returns the function that writes an archive for a system.
func packFor(t runtimes.Target) func(file string, when time.Time, list []entry) error {
	if t.OS == "windows" {
		return writeZip
	}
	return writeTar
}

// writeRuntimes writes the archive with the server of every system, for those who
// make bundles; where only some systems are built, of those.
func (r *release) writeRuntimes() error {
	list := []entry{{name: "runtimes/"}}
	for _, t := range r.trees {
		list = append(list, entry{name: "runtimes/" + t.String() + "/"},
			entry{"runtimes/" + t.Path(), true, filepath.Join(t.dir, "bin", t.Binary())})
	}
	return writeTar(r.asset("mcp-bash-v"+cli.Version+"-runtimes.tar.gz"), r.time, list)
}

// mode returns the mode of an entry in the archive. It does not depend on the mode of the file.
func (e entry) mode() fs.FileMode {
	switch {
	case strings.HasSuffix(e.name, "/"):
		return fs.ModeDir | 0o755
	case e.exec:
		return 0o755
	}
	return 0o644
}

func (e entry) copyTo(w io.Writer) error {
	if e.file == "" {
		return nil
	}
	f, err := os.Open(e.file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

func writeTar(file string, when time.Time, list []entry) error {
	return create(file, func(w io.Writer) error {
		z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		t := tar.NewWriter(z)
		for _, e := range list {
			h := tar.Header{Name: e.name, Mode: int64(e.mode().Perm()), ModTime: when, Format: tar.FormatUSTAR,
				Typeflag: tar.TypeDir}
			if e.file != "" {
				info, err := os.Stat(e.file)
				if err != nil {
					return err
				}
				h.Typeflag, h.Size = tar.TypeReg, info.Size()
			}
			if err := t.WriteHeader(&h); err != nil {
				return err
			}
			if err := e.copyTo(t); err != nil {
				return err
			}
		}
		if err := t.Close(); err != nil {
			return err
		}
		return z.Close()
	})
}

func writeZip(file string, when time.Time, list []entry) error {
	return create(file, func(w io.Writer) error {
		z := zip.NewWriter(w)
		z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
			return flate.NewWriter(w, flate.BestCompression)
		})
		for _, e := range list {
			h := zip.FileHeader{Name: e.name, Modified: when}
			if e.file != "" {
				h.Method = zip.Deflate
			}
			h.SetMode(e.mode())
			f, err := z.CreateHeader(&h)
			if err != nil {
				return err
			}
			if err := e.copyTo(f); err != nil {
				return err
			}
		}
		return z.Close()
	})
}

// create writes a file.
func create(file string, content func(io.Writer) error) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := content(f); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	return f.Close()
}

// sum is the SHA-256 of an asset, in hex.
func (r *release) sum(name string) (string, error) {
	f, err := os.Open(filepath.Join(r.out, name))
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// A summed is a file of the release and its SHA-256, in hex.
type summed struct{ name, sum string }

// sums returns all files that were written until now.
func (r *release) sums() (all []summed, err error) {
	list, err := os.ReadDir(r.out)
	if err != nil {
		return nil, err
	}
	for _, d := range list {
		sum, err := r.sum(d.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, summed{d.Name(), sum})
	}
	return all, nil
}

// writeSums writes SHA256SUMS over everything else.
func (r *release) writeSums() error {
	list, err := r.sums()
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintf(&b, "%s  %s\n", f.sum, f.name)
	}
	return write(r.asset("SHA256SUMS"), []byte(b.String()), 0o644)
}

// hasTarget reports whether the release is for a system.
func (r *release) hasTarget(t runtimes.Target) bool { return slices.Contains(r.targets, t) }
