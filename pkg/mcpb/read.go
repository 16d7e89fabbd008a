package mcpb

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/klauspost/compress/flate"
)

// ManifestName is where the manifest stands in a bundle.
const ManifestName = "manifest.json"

// MaxManifest is how long a manifest may be, in bytes.
const MaxManifest = 4 << 20

// errNoManifest is the error for a bundle without manifest.json.
var errNoManifest = errors.New("missing " + ManifestName)

// An Archive is a bundle that was opened and whose directory is in order: nothing
// in it leads out, no two files have one name, and it holds files only, as much as
// a bundle may.
type Archive struct {
	Entries []Entry // in their order
	Names   Names
	Signed  bool // a signature block follows the archive (CLI-1806); it is not judged
}

// An Entry is one file of an archive.
type Entry struct {
	Name string
	Size int64
	Exec bool
	file *zip.File
}

// Read reads the directory of a bundle.
func Read(r io.ReaderAt, size int64) (*Archive, error) {
	if size > MaxTotal {
		return nil, fmt.Errorf("larger than %d MB", MaxTotal>>20)
	}
	a := &Archive{}
	if end := withoutSignature(r, size); end != size {
		a.Signed, size = true, end
	}
	z, err := zip.NewReader(io.NewSectionReader(r, 0, size), size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, errors.New("not a valid ZIP archive")
	}
	z.RegisterDecompressor(zip.Deflate, flate.NewReader)
	if len(z.File) > maxEntries {
		return nil, fmt.Errorf("%d files; a bundle may hold %d", len(z.File), maxEntries)
	}
	total := uint64(0)
	for _, f := range z.File {
		if err := a.add(f); err != nil {
			return nil, err
		}
		if total += f.UncompressedSize64; total > MaxTotal || f.UncompressedSize64 > MaxTotal {
			return nil, fmt.Errorf("unpacks to more than %d MB", MaxTotal>>20)
		}
	}
	return a, nil
}

func (a *Archive) add(f *zip.File) error {
	mode := f.Mode()
	switch {
	case mode.IsDir() || len(f.Name) > 0 && f.Name[len(f.Name)-1] == '/':
		return fmt.Errorf("%q: an entry for a directory, on which clients fail", f.Name)
	case mode&fs.ModeSymlink != 0:
		return fmt.Errorf("%q: a symbolic link", f.Name)
	case !mode.IsRegular():
		return fmt.Errorf("%q: not a regular file", f.Name)
	case f.Flags&1 != 0:
		return fmt.Errorf("%q: encrypted", f.Name)
	case f.Method != zip.Deflate && f.Method != zip.Store:
		return fmt.Errorf("%q: compressed in a way that clients do not know", f.Name)
	case f.UncompressedSize64 > MaxFile:
		return fmt.Errorf("%q: larger than %d MB", f.Name, MaxFile>>20)
	}
	if err := a.Names.Add(f.Name); err != nil {
		return err
	}
	a.Entries = append(a.Entries, Entry{f.Name, int64(f.UncompressedSize64), mode&0o111 != 0, f})
	return nil
}

// Open opens a file for reading. It gives no more bytes than the directory
// declares, and an error at the end when the content is damaged.
func (e *Entry) Open() (io.ReadCloser, error) {
	r, err := e.file.Open()
	if err != nil {
		return nil, err
	}
	return &declared{ReadCloser: r, left: e.Size}, nil
}

var errDeclared = errors.New("longer than the archive says")

// declared ends a file that does not end where it should.
type declared struct {
	io.ReadCloser
	left int64
}

func (d *declared) Read(p []byte) (int, error) {
	if int64(len(p)) > d.left+1 {
		p = p[:d.left+1]
	}
	n, err := d.ReadCloser.Read(p)
	if d.left -= int64(n); d.left < 0 {
		return 0, errDeclared
	}
	return n, err
}

// Find returns an entry by its name, nil when there is none.
func (a *Archive) Find(name string) *Entry {
	for i := range a.Entries {
		if a.Entries[i].Name == name {
			return &a.Entries[i]
		}
	}
	return nil
}

// ReadFile returns the content of a file of at most limit bytes. The error is
// [fs.ErrNotExist] when there is none.
func (a *Archive) ReadFile(name string, limit int64) ([]byte, error) {
	e := a.Find(name)
	switch {
	case e == nil:
		return nil, fs.ErrNotExist
	case e.Size > limit:
		return nil, fmt.Errorf("%s: larger than %d bytes", name, limit)
	}
	r, err := e.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: damaged", name)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: damaged: %w", name, err)
	}
	return text, nil
}

// Manifest returns the text of the manifest.
func (a *Archive) Manifest() ([]byte, error) {
	text, err := a.ReadFile(ManifestName, MaxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoManifest
	}
	return text, err
}

// Unpack writes all files below a directory, which must be empty or new, with their
// execute bits.
func (a *Archive) Unpack(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for i := range a.Entries {
		if err := a.Entries[i].unpack(root); err != nil {
			return fmt.Errorf("%s: %w", a.Entries[i].Name, err)
		}
	}
	return nil
}

func (e *Entry) unpack(root *os.Root) error {
	if dir := path.Dir(e.Name); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	mode := fs.FileMode(0o644)
	if e.Exec {
		mode = 0o755
	}
	in, err := e.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := root.OpenFile(e.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// The signature block that the official tool appends (CLI-1806).
const (
	signatureStart = "MCPB_SIG_V1"
	signatureEnd   = "MCPB_SIG_END"
	maxSignature   = 1 << 20
)

// withoutSignature returns where the archive ends: before a signature block.
func withoutSignature(r io.ReaderAt, size int64) int64 {
	mark := make([]byte, len(signatureEnd))
	if size < int64(len(mark)) {
		return size
	}
	if _, err := r.ReadAt(mark, size-int64(len(mark))); err != nil || string(mark) != signatureEnd {
		return size
	}
	tail := make([]byte, min(size, maxSignature))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil {
		return size
	}
	at := bytes.LastIndex(tail, []byte(signatureStart))
	if at < 0 {
		return size
	}
	return size - int64(len(tail)) + int64(at)
}
