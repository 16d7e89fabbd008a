package scan

import (
	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/registry/item"
)

// IsText reports whether the beginning of a file is text.
func (v *Visit) IsText(name string) bool {
	file, err := v.open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	buf := v.space(int(min(file.Stamp.Size, item.MaxHead)))
	n, err := file.Read(buf)
	if err != nil {
		v.Recheck()
		return false
	}
	return media.IsText(media.WholeRunes(buf[:n]))
}
