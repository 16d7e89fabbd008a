package item

import (
	"bytes"
	"encoding/json"
	"strings"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
)

const (
	MetadataSuffix = folder.MetadataSuffix
	MaxMetadata    = 1 << 20
)

// MetadataNames returns the possible names of a file's metadata file in order of
// precedence. The second may be empty.
func MetadataNames(file string) [2]string {
	names := [2]string{file + MetadataSuffix}
	if base := Stem(file); base != file {
		names[1] = base + MetadataSuffix
	}
	return names
}

// Stem returns a file name without its last extension.
func Stem(file string) string {
	if at := strings.LastIndexByte(file, '.'); at > 0 {
		return file[:at]
	}
	return file
}

// ParseMetadata returns the object in a metadata file, and the text that the object is a
// piece of. A byte order mark, and carriage returns anywhere, are ignored,
// as in the Bash edition.
func ParseMetadata(text []byte) (object json.RawMessage, whole []byte, err error) {
	text = bytes.TrimPrefix(text, rawjson.ByteOrderMark)
	object, err = ParseObject(text)
	if err != nil && bytes.IndexByte(text, '\r') >= 0 {
		clean := bytes.ReplaceAll(text, []byte{'\r'}, nil)
		if object, errClean := ParseObject(clean); errClean == nil {
			return object, clean, nil
		}
	}
	return object, text, err
}

// IsDescribed reports whether a file in a directory has a metadata file or an
// inline header.
func IsDescribed(dir folder.Dir, file string) bool {
	read := func(name string, limit int) []byte {
		f, err := dir.OpenFile(name)
		if err != nil {
			return nil
		}
		defer f.Close()
		text := make([]byte, min(f.Stamp.Size, uint64(limit)))
		n, _ := f.Read(text)
		return text[:n]
	}
	for _, name := range MetadataNames(file) {
		if name != "" {
			if _, _, err := ParseMetadata(read(name, MaxMetadata)); err == nil {
				return true
			}
		}
	}
	head, _ := Head(read(file, MaxHead))
	header, _ := ParseHeader(head)
	return header != nil
}
