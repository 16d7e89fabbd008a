package mcpb

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// An archive describes each file twice: in a header before its content, and in an entry of
// the directory at the end. Some programs read the headers, others read the directory, and
// some also unpack bytes between files.
//
// A bundle is accepted only if all these programs find the same files. Files, directory and end follow each other
// without a gap, and headers and entries agree.

// Sizes and signatures of the records of an archive, as in APPNOTE.TXT.
const (
	fileHeaderSize = 30
	dirEntrySize   = 46
	endSize        = 22

	fileHeaderMark = "PK\x03\x04"
	dirEntryMark   = "PK\x01\x02"
	endMark        = "PK\x05\x06"
	descriptorMark = "PK\x07\x08"
)

// Flags of an entry. The allowed flags do not affect the content.
const (
	flagsAllowed   = 0x080e // levels of compression, descriptor, UTF-8
	flagDescriptor = 0x0008
	flagUTF8       = 0x0800
)

// extraAllowed are the extra fields that an entry can have: times and owners. Other fields
// give a file another name, size or content in programs that support them.
var extraAllowed = []uint16{0x000a, 0x5455, 0x5855, 0x7855, 0x7875}

type end struct {
	count          int
	dirSize, dirAt int64
	comment        int  // the length of the comment
	several        bool // the archive has several parts
}

func readEnd(r io.ReaderAt, at int64) (e end, err error) {
	b := make([]byte, endSize)
	if at < 0 {
		return e, ErrNotZIP
	}
	if _, err := r.ReadAt(b, at); err != nil || string(b[:4]) != endMark {
		return e, ErrNotZIP
	}
	u16 := func(at int) int { return int(binary.LittleEndian.Uint16(b[at:])) }
	e = end{
		count: u16(10), comment: u16(20), several: u16(4) != 0 || u16(6) != 0 || u16(8) != u16(10),
		dirSize: int64(binary.LittleEndian.Uint32(b[12:])), dirAt: int64(binary.LittleEndian.Uint32(b[16:])),
	}
	return e, nil
}

// checkLayout checks the records of an archive whose end record is at endAt.
func checkLayout(r io.ReaderAt, e end, endAt int64, files []*zip.File) error {
	switch {
	case e.several:
		return errors.New("part of a split archive")
	case e.count != len(files):
		return fmt.Errorf("%d files, and %d by its end", len(files), e.count)
	case e.dirAt+e.dirSize != endAt:
		return errors.New("bytes that belong to no file, before the end of the archive")
	}
	if err := checkDirectory(io.NewSectionReader(r, e.dirAt, e.dirSize), e.count); err != nil {
		return err
	}
	type entryBody struct {
		file *zip.File
		body int64
	}
	entries := make([]entryBody, 0, len(files))
	for _, f := range files {
		body, err := f.DataOffset()
		if err != nil {
			return fmt.Errorf("%q: no header in front of it", f.Name)
		}
		entries = append(entries, entryBody{f, body})
	}
	slices.SortStableFunc(entries, func(a, b entryBody) int { return cmp.Compare(a.body, b.body) })
	at := int64(0)
	for _, p := range entries {
		next, err := checkEntry(r, at, p.body, p.file)
		if err != nil {
			return fmt.Errorf("%q: %w", p.file.Name, err)
		}
		at = next
	}
	if at != e.dirAt {
		return errors.New("bytes that belong to no file, before the directory of the archive")
	}
	return nil
}

// checkDirectory checks that a directory only consists of entries on one disk.
func checkDirectory(dir *io.SectionReader, count int) error {
	errDamaged := errors.New("its directory is damaged")
	buffered := bufio.NewReader(dir)
	b := make([]byte, dirEntrySize)
	for range count {
		if _, err := io.ReadFull(buffered, b); err != nil || string(b[:4]) != dirEntryMark {
			return errDamaged
		}
		if binary.LittleEndian.Uint16(b[34:]) != 0 {
			return errors.New("part of a split archive")
		}
		rest := 0
		for _, at := range []int{28, 30, 32} { // the lengths of name, extra fields and comment
			rest += int(binary.LittleEndian.Uint16(b[at:]))
		}
		if _, err := buffered.Discard(rest); err != nil {
			return errDamaged
		}
	}
	if _, err := buffered.ReadByte(); err != io.EOF {
		return errDamaged
	}
	return nil
}

// checkEntry compares the header at an offset with the entry of the directory, and checks
// the bytes after the content at body. It returns the offset of the end of the file.
func checkEntry(r io.ReaderAt, at, body int64, f *zip.File) (next int64, err error) {
	if body < at+fileHeaderSize || body-at > fileHeaderSize+2<<16 {
		return 0, errors.New("bytes that belong to no file in front of it, or a part of another one")
	}
	b := make([]byte, body-at)
	if _, err := r.ReadAt(b, at); err != nil || string(b[:4]) != fileHeaderMark {
		return 0, errors.New("bytes that belong to no file in front of it")
	}
	u16 := func(at int) uint16 { return binary.LittleEndian.Uint16(b[at:]) }
	nameEnd := fileHeaderSize + int(u16(26))
	if nameEnd+int(u16(28)) != len(b) {
		return 0, errors.New("bytes that belong to no file in front of it")
	}
	switch {
	case string(b[fileHeaderSize:nameEnd]) != f.Name:
		return 0, fmt.Errorf("its header has another name: %q", b[fileHeaderSize:nameEnd])
	case u16(6) != f.Flags || u16(8) != f.Method:
		return 0, errors.New("its header and its directory entry differ")
	case f.Flags&^flagsAllowed != 0:
		return 0, errors.New("flags that a bundle does not need")
	case f.Flags&flagDescriptor != 0 && f.Method == zip.Store:
		return 0, errors.New("not compressed, and its size is only in the directory")
	case f.Comment != "":
		return 0, errors.New("a comment, which a bundle does not need")
	}
	for _, extra := range [][]byte{b[nameEnd:], f.Extra} {
		if err := checkExtra(extra); err != nil {
			return 0, err
		}
	}
	sums := make([]byte, 12)
	binary.LittleEndian.PutUint32(sums, f.CRC32)
	binary.LittleEndian.PutUint32(sums[4:], uint32(f.CompressedSize64))
	binary.LittleEndian.PutUint32(sums[8:], uint32(f.UncompressedSize64))
	next = body + int64(f.CompressedSize64)
	if bytes.Equal(b[14:26], sums) && f.Flags&flagDescriptor == 0 {
		return next, nil
	}
	if f.Flags&flagDescriptor == 0 || !bytes.Equal(b[14:26], sums) && !bytes.Equal(b[14:26], make([]byte, 12)) {
		return 0, errors.New("its header and its directory entry differ")
	}
	return checkDescriptor(r, next, sums)
}

// checkDescriptor checks the record after the content, which repeats its checksum and sizes.
// It returns the offset of the record's end.
func checkDescriptor(r io.ReaderAt, at int64, sums []byte) (next int64, err error) {
	b := make([]byte, len(descriptorMark)+len(sums))
	n, err := r.ReadAt(b, at)
	if err != nil && err != io.EOF {
		return 0, err
	}
	switch b = b[:n]; {
	case bytes.Equal(b, append([]byte(descriptorMark), sums...)):
		return at + int64(len(b)), nil
	case bytes.HasPrefix(b, sums):
		return at + int64(len(sums)), nil
	}
	return 0, errors.New("its data descriptor and its directory entry differ")
}

func checkExtra(b []byte) error {
	for len(b) > 0 {
		if len(b) < 4 || len(b)-4 < int(binary.LittleEndian.Uint16(b[2:])) {
			return errors.New("a damaged extra field")
		}
		if tag := binary.LittleEndian.Uint16(b); !slices.Contains(extraAllowed, tag) {
			return fmt.Errorf("an extra field (%#04x) that changes what some programs unpack", tag)
		}
		b = b[4+int(binary.LittleEndian.Uint16(b[2:])):]
	}
	return nil
}

// The signature block that the official tool appends consists of a start, a length, a signature and an end.
const (
	signatureStart = "MCPB_SIG_V1"
	signatureEnd   = "MCPB_SIG_END"
	maxSignature   = 1 << 20
)

// signatureSize returns the length of the signature block at the end of a file, or 0. It is
// an error if the block contains the mark of an archive's end, because programs would find
// another archive there.
func signatureSize(r io.ReaderAt, size int64) (int64, error) {
	tail := make([]byte, min(size, maxSignature))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return 0, err
	}
	if !bytes.HasSuffix(tail, []byte(signatureEnd)) {
		return 0, nil
	}
	at := bytes.LastIndex(tail, []byte(signatureStart))
	if at < 0 {
		return 0, errors.New("the end of a signature without its start")
	}
	block := tail[at:]
	inside := len(block) - len(signatureStart) - 4 - len(signatureEnd)
	switch {
	case inside < 0 || uint32(inside) != binary.LittleEndian.Uint32(block[len(signatureStart):]):
		return 0, errors.New("a signature whose length is not the declared one")
	case bytes.Contains(block, []byte(endMark)):
		return 0, errors.New("a signature that contains the end of an archive")
	}
	return int64(len(block)), nil
}
