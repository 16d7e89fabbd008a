package mcpb

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/files/boundedfile"

	"github.com/klauspost/compress/flate"
)

// A File is one file of a bundle.
type File struct {
	Name string // slash-separated
	Exec bool
	Size int64 // the expected size, for progress
	Open func() (io.ReadCloser, error)
}

// Sum returns the SHA-256 hash of the content in hexadecimal digits.
func (f File) Sum() (string, error) {
	in, err := f.Open()
	if err != nil {
		return "", err
	}
	defer in.Close()
	h := sha256.New()
	_, err = io.Copy(h, in)
	return hex.EncodeToString(h.Sum(nil)), err
}

// Read returns the content, of at most limit bytes.
func (f File) Read(limit int64) ([]byte, error) {
	if f.Size > limit {
		return nil, fmt.Errorf("%s: larger than %d bytes", f.Name, limit)
	}
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(io.LimitReader(in, limit))
}

// mode returns the permissions of an unpacked file.
func (f File) mode() fs.FileMode {
	if f.Exec {
		return 0o755
	}
	return 0o644
}

// Create writes a new file below a directory, under any name, and returns the hash and the size of its content. With
// sync, the content is on the disk when Create returns.
func (f File) Create(root *os.Root, name string, sync bool) (sum string, size int64, err error) {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return "", 0, err
	}
	in, err := f.Open()
	if err != nil {
		return "", 0, err
	}
	defer in.Close()
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode())
	if err != nil {
		return "", 0, err
	}
	h := sha256.New()
	size, err = io.Copy(io.MultiWriter(out, h), in)
	err = errors.Join(err, out.Chmod(f.mode()))
	if sync {
		err = errors.Join(err, out.Sync())
	}
	return hex.EncodeToString(h.Sum(nil)), size, errors.Join(err, out.Close())
}

// WriteTar writes the file to an archive of tar. The header has the name, the time and the owner.
func (f File) WriteTar(t *tar.Writer, h tar.Header) error {
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	h.Typeflag, h.Mode, h.Size = tar.TypeReg, int64(f.mode()), f.Size
	if err = t.WriteHeader(&h); err == nil {
		_, err = io.Copy(t, in)
	}
	if err == nil {
		err = t.Flush() // fails if the content is shorter
	}
	return err
}

// Sort sorts files by name.
func Sort(files []File) {
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
}

// FileIn returns the file with a name below a directory, which must be regular.
func FileIn(root *os.Root, name string) File {
	return File{Name: name, Open: func() (io.ReadCloser, error) { return boundedfile.OpenIn(root, name) }}
}

// Walk visits everything below a directory except directories, in the order of names. Only regular files can be opened.
func Walk(root *os.Root, visit func(f File, isRegular bool) error) error {
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		f := FileIn(root, name)
		f.Exec, f.Size = info.Mode()&0o111 != 0, info.Size()
		return visit(f, info.Mode().IsRegular())
	})
}

// Folder returns the files below a directory, which stays open until they are read. All must be regular.
func Folder(root *os.Root) (files []File, err error) {
	return files, Walk(root, func(f File, isRegular bool) error {
		if !isRegular {
			return fmt.Errorf("%s: not a regular file", f.Name)
		}
		files = append(files, f)
		return nil
	})
}

// Bytes returns a file with a content in memory.
func Bytes(name string, exec bool, content []byte) File {
	return File{Name: name, Exec: exec, Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}}
}

// MaxFile and MaxTotal limit the contents of a bundle, in bytes before compression.
const (
	MaxFile  = 512 << 20
	MaxTotal = 1 << 30
)

// MaxEntries limits the files of a bundle.
const MaxEntries = 50_000

// Epoch is the time stamp of files in a bundle: the earliest time in ZIP.
var Epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// Write writes a bundle of files in the given order. The same files always produce the same bytes. Files are compressed
// on all processors. advance is called with the size of each file that was written. It may be nil.
func Write(ctx context.Context, w io.Writer, files []File, modified time.Time, advance func(bytes int64)) error {
	return write(ctx, w, files, modified, advance, MaxFile, MaxTotal)
}

func write(ctx context.Context, w io.Writer, files []File, modified time.Time, advance func(int64),
	maxFile, maxTotal uint64) error {
	if len(files) > MaxEntries {
		return fmt.Errorf("%d files; a bundle may hold %d", len(files), MaxEntries)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	archive, total := zip.NewWriter(w), uint64(0)
	for result := range compressAll(ctx, files, maxFile) {
		packed := <-result
		if packed.err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return fmt.Errorf("%s: %w", packed.file.Name, packed.err)
		}
		if total += packed.size; total > maxTotal {
			return fmt.Errorf("more than %d MB of files; leave some out with .mcpbignore", maxTotal>>20)
		}
		if err := packed.write(archive, modified); err != nil {
			return err
		}
		if advance != nil {
			advance(int64(packed.size))
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return archive.Close()
}

type compressed struct {
	file   File
	buffer bytes.Buffer
	size   uint64
	crc    uint32
	err    error
}

// compressAll compresses files on all processors. It yields a channel for each file, in their order, and stops with
// the context. At most a few files wait for the reader, so that memory is bounded.
func compressAll(ctx context.Context, files []File, limit uint64) <-chan chan *compressed {
	results := make(chan chan *compressed, runtime.GOMAXPROCS(0))
	go func() {
		defer close(results)
		for _, f := range files {
			result := make(chan *compressed, 1)
			select {
			case results <- result:
				go func() { result <- compress(ctx, f, limit) }()
			case <-ctx.Done():
				return
			}
		}
	}()
	return results
}

// level balances time and size: with the next level, our files are 1 % smaller and take
// twice the time.
const level = 7

var deflaters = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, level)
	return w
}}

func compress(ctx context.Context, f File, limit uint64) *compressed {
	c := &compressed{file: f}
	in, err := f.Open()
	if err != nil {
		c.err = err
		return c
	}
	defer in.Close()
	deflater := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(deflater)
	deflater.Reset(&c.buffer)
	sum := crc32.NewIEEE()
	count := writerFunc(func(p []byte) (int, error) {
		if c.size += uint64(len(p)); c.size > limit {
			return 0, fmt.Errorf("larger than %d MB", limit>>20)
		}
		return len(p), context.Cause(ctx)
	})
	_, err = io.Copy(io.MultiWriter(count, sum, deflater), in)
	c.err, c.crc = errors.Join(err, deflater.Close()), sum.Sum32()
	return c
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// write appends the file. Its header has the size and only one time stamp, without extra
// fields.
func (c *compressed) write(archive *zip.Writer, modified time.Time) error {
	f := c.file
	h := &zip.FileHeader{
		Name: f.Name, Method: zip.Deflate, ReaderVersion: 20,
		CRC32: c.crc, CompressedSize64: uint64(c.buffer.Len()), UncompressedSize64: c.size,
	}
	h.SetMode(f.mode())
	h.CreatorVersion |= 20
	if !isASCII(f.Name) {
		h.Flags |= flagUTF8
	}
	if modified.Before(Epoch) {
		modified = Epoch
	} else if last := time.Date(2107, 12, 31, 23, 59, 58, 0, time.UTC); modified.After(last) {
		modified = last // the latest time that ZIP can represent
	}
	//lint:ignore SA1019 Modified with CreateHeader would add an extra field, which the archive is not to have
	h.SetModTime(modified)
	w, err := archive.CreateRaw(h)
	if err != nil {
		return err
	}
	_, err = w.Write(c.buffer.Bytes())
	return err
}
