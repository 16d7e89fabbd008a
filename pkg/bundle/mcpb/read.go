// Package mcpb reads, checks and writes MCP bundles: ZIP archives with a manifest.json (cli
// chapters 14 and 18). It does not depend on projects.
//
// Archives are untrusted. Their names, sizes and modes are checked before any content is
// read. Reading is limited to the declared sizes.
package mcpb

import (
	"archive/zip"
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/flate"
)

// ManifestName is the path of the manifest in a bundle.
const ManifestName = "manifest.json"

// MaxManifest is the maximum size of a manifest, in bytes.
const MaxManifest = 4 << 20

var (
	// ErrNotZIP is the error for a file that is not an archive at all.
	ErrNotZIP     = errors.New("not a valid ZIP archive")
	errNoManifest = errors.New("missing " + ManifestName)
)

// An Archive is an open bundle whose directory is valid. No name leads out of it, no two
// files have the same name, and it only has files, within the limits of a bundle.
type Archive struct {
	Entries []File // in the order of the directory
	Names   Names
	Signed  bool // there is a signature block; it is not verified
	// Behind counts the bytes of a signature block after the end of the archive, where strict readers expect nothing. It
	// is 0 if the block is the archive's comment.
	Behind int64
}

// Faults returns the reasons why strict readers reject the archive, although [Read] accepts it.
func (a *Archive) Faults() []Fault {
	if a.Behind == 0 {
		return nil
	}
	return []Fault{{"signature", fmt.Sprintf("%d bytes after the end of the archive, which strict readers refuse; "+
		"make the bundle again without mcpb sign", a.Behind)}}
}

// Read reads the directory of a bundle.
func Read(r io.ReaderAt, size int64) (*Archive, error) {
	if size > MaxTotal {
		return nil, fmt.Errorf("larger than %d MB", MaxTotal>>20)
	}
	signature, err := signatureSize(r, size)
	if err != nil {
		return nil, err
	}
	a := &Archive{Signed: signature > 0, Behind: signature}
	endAt := size - signature - endSize
	e, err := readEnd(r, endAt)
	if err != nil {
		if _, errZIP := zip.NewReader(r, size); errZIP == nil {
			err = errors.New("bytes that belong to no file, after the end of the archive")
		}
		return nil, err
	}
	whole := size - signature
	if signature > 0 && int64(e.comment) == signature {
		whole, a.Behind = size, 0 // the signature is the archive's comment
	} else if e.comment != 0 {
		return nil, errors.New("a comment, which a bundle does not need")
	}
	z, err := zip.NewReader(io.NewSectionReader(r, 0, whole), whole)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, ErrNotZIP
	}
	z.RegisterDecompressor(zip.Deflate, inflate)
	if len(z.File) > MaxEntries {
		return nil, fmt.Errorf("%d files; a bundle may hold %d", len(z.File), MaxEntries)
	}
	total := uint64(0)
	for _, f := range z.File {
		if err := a.add(f); err != nil {
			return nil, err
		}
		if total += f.UncompressedSize64; total > MaxTotal {
			return nil, fmt.Errorf("unpacks to more than %d MB", MaxTotal>>20)
		}
	}
	if err := checkLayout(r, e, endAt, z.File); err != nil {
		return nil, err
	}
	return a, nil
}

func isASCII(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf })
}

func (a *Archive) add(f *zip.File) error {
	kind := f.ExternalAttrs >> 28 // as on Unix, regardless of the entry's system
	unixes := []uint16{3, 19}     // Unix and macOS, whose names all programs accept unchanged
	switch {
	case kind == 4 || f.ExternalAttrs&0x10 != 0 || strings.HasSuffix(f.Name, "/"):
		return fmt.Errorf("%q: an entry for a directory, which clients do not support", f.Name)
	case kind == 10:
		return fmt.Errorf("%q: a symbolic link", f.Name)
	case kind != 0 && kind != 8:
		return fmt.Errorf("%q: not a regular file", f.Name)
	case f.Flags&1 != 0:
		return fmt.Errorf("%q: encrypted", f.Name)
	case f.Method != zip.Deflate && f.Method != zip.Store:
		return fmt.Errorf("%q: compressed with a method that clients do not support", f.Name)
	case f.UncompressedSize64 > MaxFile:
		return fmt.Errorf("%q: larger than %d MB", f.Name, MaxFile>>20)
	case f.Method == zip.Store && f.CompressedSize64 != f.UncompressedSize64:
		return fmt.Errorf("%q: two sizes of a file that is not compressed", f.Name)
	case f.CompressedSize64 > MaxTotal:
		return fmt.Errorf("%q: larger than the archive", f.Name)
	case !isASCII(f.Name) && (f.Flags&flagUTF8 == 0 || !slices.Contains(unixes, f.CreatorVersion>>8)):
		return fmt.Errorf("%q: a name beyond ASCII that is not marked as UTF-8 on Unix; programs read it differently", f.Name)
	}
	file := File{f.Name, f.ExternalAttrs>>16&0o111 != 0, int64(f.UncompressedSize64), f.Open}
	if err := a.Names.Add(file); err != nil {
		return err
	}
	if reason := windowsFault(f.Name); reason != "" && runtime.GOOS == "windows" {
		return fmt.Errorf("%q: %s", f.Name, reason)
	}
	a.Entries = append(a.Entries, file)
	return nil
}

// inflate decompresses. It returns an error if bytes follow the compressed content.
func inflate(r io.Reader) io.ReadCloser {
	buffered := bufio.NewReader(r)
	return &inflater{flate.NewReader(buffered), buffered}
}

type inflater struct {
	io.ReadCloser
	rest io.ByteReader
}

func (i *inflater) Read(p []byte) (int, error) {
	n, err := i.ReadCloser.Read(p)
	if err == io.EOF {
		if _, errRest := i.rest.ReadByte(); errRest != io.EOF {
			err = errors.New("bytes after its compressed content")
		}
	}
	return n, err
}

// Each visits the files.
func (a *Archive) Each(visit func(File) error) error {
	for _, f := range a.Entries {
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}

// ReadFile returns the content of a file of at most limit bytes. The error is
// [fs.ErrNotExist] if there is no such file.
func (a *Archive) ReadFile(name string, limit int64) ([]byte, error) {
	f, ok := a.Names.Find(name)
	if !ok || f.Name != name {
		return nil, fs.ErrNotExist
	}
	text, err := f.Read(limit)
	if err != nil && f.Size <= limit {
		err = fmt.Errorf("%s: damaged: %w", name, err)
	}
	return text, err
}

// Manifest returns the text of the manifest.
func (a *Archive) Manifest() ([]byte, error) {
	text, err := a.ReadFile(ManifestName, MaxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoManifest
	}
	return text, err
}

// unpacking is the prefix of a temporary directory for files that are being unpacked.
const unpacking = ".mcp-bash-unpacking-"

// Unpack writes all files below a directory, which must be empty or new, with their execute bits. It writes them to a
// temporary directory first and then moves them, so a damaged archive leaves no files.
func (a *Archive) Unpack(dir string) (err error) {
	made := missing(dir)
	defer func() {
		for i := 0; err != nil && i < len(made); i++ {
			os.Remove(made[i]) // fails if another program created files in the directory
		}
	}()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	stage := unpacking + rand.Text()
	if err := root.Mkdir(stage, 0o755); err != nil {
		return err
	}
	tops, moved := map[string]bool{}, []string{stage}
	defer func() {
		if err == nil {
			moved = moved[:1]
		}
		for _, name := range moved {
			err = errors.Join(err, root.RemoveAll(name))
		}
	}()
	for _, e := range a.Entries {
		if _, _, err := e.Create(root, path.Join(stage, e.Name), false); err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		top, _, _ := strings.Cut(e.Name, "/")
		tops[top] = true
	}
	for top := range tops {
		if _, err := root.Lstat(top); err == nil {
			return fmt.Errorf("%s: %w", top, fs.ErrExist)
		}
	}
	for top := range tops {
		if err := root.Rename(path.Join(stage, top), top); err != nil {
			return err
		}
		moved = append(moved, top)
	}
	return nil
}

// missing returns dir and its parents that do not exist, the deepest first.
func missing(dir string) (list []string) {
	for {
		if _, err := os.Lstat(dir); err == nil || len(list) > 0 && dir == list[len(list)-1] {
			return list
		}
		list = append(list, dir)
		dir = filepath.Dir(dir)
	}
}
