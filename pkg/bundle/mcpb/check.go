package mcpb

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/json/rawjson"
)

// A Report is the result of checking a bundle, its directory or its manifest.
type Report struct {
	Manifest json.RawMessage // nil if it cannot be read
	Archive  *Archive        // nil for a directory or a manifest
	SHA256   string          // of the file; "" for a directory
	Faults   []Fault
}

const pngSignature = "\x89PNG\r\n\x1a\n"

// CheckFile checks a bundle, a directory or a manifest as the official tool does, and the
// files of a bundle as clients need them. It returns an error only if f cannot be read. The
// archive of the report can be read while f is open.
func CheckFile(f *os.File) (*Report, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return checkDir(f.Name())
	case !info.Mode().IsRegular():
		return nil, boundedfile.ErrNotRegular
	}
	sum, err := File{Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(f, 0, info.Size())), nil
	}}.Sum()
	if err != nil {
		return nil, err
	}
	r := &Report{SHA256: sum}
	head := make([]byte, 4)
	if n, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, err
	} else if string(head[:n]) == "PK\x03\x04" || filepath.Ext(f.Name()) != ".json" {
		return r, r.checkArchive(f, info.Size())
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxManifest+1)) // one byte more than allowed
	if err != nil {
		return nil, err
	}
	r.read(text, nil)
	return r, nil
}

func (r *Report) read(text []byte, err error) {
	if err == nil {
		r.Manifest, err = ParseManifest(text)
	}
	if err != nil {
		r.Faults = append(r.Faults, Fault{ManifestName, err.Error()})
		return
	}
	r.Faults = append(r.Faults, CheckManifest(r.Manifest)...)
}

func (r *Report) checkArchive(f *os.File, size int64) error {
	a, err := Read(f, size)
	if err != nil {
		return err
	}
	r.Archive, r.Faults = a, a.Faults()
	r.read(a.Manifest())
	if r.Manifest == nil {
		return nil
	}
	r.Faults = append(r.Faults, CheckFiles(r.Manifest, &a.Names, func(name string) bool {
		e := a.find(name)
		return e != nil && e.Exec
	})...)
	r.Faults = append(r.Faults, CheckWindows(r.Manifest, &a.Names)...)
	if e := a.find(rawjson.TextOf(r.Manifest, "icon")); e != nil {
		r.checkIcon(e.Open())
	}
	return a.Verify()
}

func (r *Report) checkIcon(icon io.ReadCloser, err error) {
	head := make([]byte, len(pngSignature))
	if err == nil {
		defer icon.Close()
		_, err = io.ReadFull(icon, head)
	}
	if err != nil || string(head) != pngSignature {
		r.Faults = append(r.Faults, Fault{"icon", "not a PNG picture"})
	}
}

// Verify reads every file, and returns an error for the first damaged one.
func (a *Archive) Verify() error {
	return a.Each(func(f File) error {
		if _, err := f.Sum(); err != nil {
			return fmt.Errorf("%q: damaged: %w", f.Name, err)
		}
		return nil
	})
}

func checkDir(dir string) (*Report, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	r, names, exec := &Report{}, &Names{}, map[string]bool{}
	if info, err := root.Stat(ManifestName); err != nil {
		r.read(nil, errNoManifest)
	} else if !info.Mode().IsRegular() || info.Size() > MaxManifest {
		r.read(nil, errors.New("not a manifest"))
	} else {
		r.read(root.ReadFile(ManifestName))
	}
	count := 0
	err = Walk(root, func(f File, isRegular bool) error {
		if count++; count > MaxEntries {
			return fmt.Errorf("more than %d files", MaxEntries)
		}
		err := names.Add(f.Name)
		if exec[f.Name] = f.Exec; !isRegular {
			err = errors.New("not a regular file")
		}
		if err != nil {
			r.Faults = append(r.Faults, Fault{f.Name, err.Error()})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if r.Manifest != nil {
		r.Faults = append(r.Faults, CheckFiles(r.Manifest, names, func(name string) bool { return exec[name] })...)
		r.Faults = append(r.Faults, CheckWindows(r.Manifest, names)...)
	}
	return r, nil
}
