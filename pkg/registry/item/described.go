package item

import (
	"mcp-bash/pkg/files/folder"
)

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
