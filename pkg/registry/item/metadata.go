package item

import (
	"bytes"
	"encoding/json"
	"strings"
)

const (
	MetadataSuffix = ".meta.json"
	MaxMetadata    = 1 << 20
)

var ByteOrderMark = []byte("\xEF\xBB\xBF")

// MetadataNames are the names of a file's metadata file, the first that exists
// counts.
func MetadataNames(file string) [2]string {
	names := [2]string{file + MetadataSuffix}
	if base := Stem(file); base != file {
		names[1] = base + MetadataSuffix
	}
	return names
}

// Stem is a file name without its last extension.
func Stem(file string) string {
	if at := strings.LastIndexByte(file, '.'); at > 0 {
		return file[:at]
	}
	return file
}

// ParseMetadata returns the object a metadata file holds, and the text that it
// is a piece of. As with the Bash edition a byte order mark, and carriage returns
// wherever they stand, do no harm.
func ParseMetadata(text []byte) (object json.RawMessage, whole []byte, err error) {
	text = bytes.TrimPrefix(text, ByteOrderMark)
	object, err = ParseObject(text)
	if err != nil && bytes.IndexByte(text, '\r') >= 0 {
		clean := bytes.ReplaceAll(text, []byte{'\r'}, nil)
		if object, errClean := ParseObject(clean); errClean == nil {
			return object, clean, nil
		}
	}
	return object, text, err
}
