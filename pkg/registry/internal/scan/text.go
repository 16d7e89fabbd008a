package scan

import (
	"unicode/utf8"

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
	return media.IsText(wholeRunes(buf[:n]))
}

func wholeRunes(text []byte) []byte {
	for end := len(text) - 1; end >= max(0, len(text)-utf8.UTFMax+1); end-- {
		if utf8.RuneStart(text[end]) {
			if !utf8.FullRune(text[end:]) {
				return text[:end]
			}
			break
		}
	}
	return text
}
