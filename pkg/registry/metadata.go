package registry

import (
	"bytes"
	"encoding/json"
	"strings"
)

const (
	metaSuffix = ".meta.json"
	metaMax    = 1 << 20
)

var utf8BOM = []byte("\xEF\xBB\xBF")

// metaNames are the names of a file's metadata file, the first that exists
// counts.
func metaNames(file string) [2]string {
	names := [2]string{file + metaSuffix}
	if base := stem(file); base != file {
		names[1] = base + metaSuffix
	}
	return names
}

// stem is a file name without its last extension.
func stem(file string) string {
	if at := strings.LastIndexByte(file, '.'); at > 0 {
		return file[:at]
	}
	return file
}

// parseMetadata returns the object a metadata file holds, and the text that it
// is a piece of. As with the Bash edition a byte order mark, and carriage returns
// wherever they stand, do no harm.
func parseMetadata(text []byte) (object json.RawMessage, whole []byte, err error) {
	text = bytes.TrimPrefix(text, utf8BOM)
	object, err = parseObject(text)
	if err != nil && bytes.IndexByte(text, '\r') >= 0 {
		clean := bytes.ReplaceAll(text, []byte{'\r'}, nil)
		if object, errClean := parseObject(clean); errClean == nil {
			return object, clean, nil
		}
	}
	return object, text, err
}
