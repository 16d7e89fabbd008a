package runtimes

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime/debug"
)

// The go command records how it built a program. The record begins with its magic and a header. Then come the
// version of Go and the build's settings, each with its length in front.
const (
	recordMagic  = "\xff Go buildinf:"
	recordHeader = 32
	recordInline = 2       // the bit of the header's last used byte that means this format (since Go 1.18)
	maxRecord    = 1 << 20 // bytes
	recordFrame  = 16      // bytes in front of the settings, and after them
	maxMagics    = 16      // how often the magic may occur in front of the record
)

var errNoRecord = errors.New("no record of a build by the go command")

// BuildInfo returns the record of a build from a program for any system. It searches for the record, instead of
// reading the formats of programs as debug/buildinfo does, which makes our commands smaller.
func BuildInfo(r io.ReaderAt) (*debug.BuildInfo, error) {
	record := make([]byte, maxRecord)
	from := int64(0)
	for range maxMagics {
		at, err := find(r, from, []byte(recordMagic))
		if err != nil {
			return nil, err
		}
		if at < 0 {
			break
		}
		n, err := r.ReadAt(record, at)
		if err != nil && err != io.EOF {
			return nil, err
		}
		if info := parseRecord(record[:n]); info != nil {
			return info, nil
		}
		from = at + 1 // it is another use of the magic
	}
	return nil, errNoRecord
}

func parseRecord(record []byte) *debug.BuildInfo {
	if len(record) < recordHeader || record[len(recordMagic)+1]&recordInline == 0 {
		return nil
	}
	version, rest, ok := cutText(record[recordHeader:])
	if !ok {
		return nil
	}
	settings, _, ok := cutText(rest)
	if !ok || len(settings) < 2*recordFrame {
		return nil
	}
	info, err := debug.ParseBuildInfo(string(settings[recordFrame : len(settings)-recordFrame]))
	if err != nil {
		return nil
	}
	info.GoVersion = string(version)
	return info
}

// cutText returns the first text of a record, and the part behind it.
func cutText(record []byte) (text, rest []byte, ok bool) {
	size, n := binary.Uvarint(record)
	if n <= 0 || size > uint64(len(record)-n) {
		return nil, nil, false
	}
	return record[n : n+int(size)], record[n+int(size):], true
}

// find returns the position of a text in a file at or after from, or -1.
func find(r io.ReaderAt, from int64, text []byte) (int64, error) {
	const step = 1 << 20
	buffer := make([]byte, step+len(text))
	for at := from; ; at += step {
		n, err := r.ReadAt(buffer, at)
		if i := bytes.Index(buffer[:n], text); i >= 0 {
			return at + int64(i), nil
		}
		if err == io.EOF {
			return -1, nil
		} else if err != nil {
			return -1, err
		}
	}
}
