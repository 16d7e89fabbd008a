package scan

import (
	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/registry/item"
)

// IsText reports whether a file is text, by its beginning.
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

// wholeRunes cuts off a character that a text breaks off in.
func wholeRunes(text []byte) []byte {
	for back := 1; back <= 3 && back <= len(text); back++ {
		c := text[len(text)-back]
		if c < 0x80 {
			return text
		}
		if c >= 0xC0 { // a character begins here, and should have so many bytes
			size := 2
			if c >= 0xF0 {
				size = 4
			} else if c >= 0xE0 {
				size = 3
			}
			if size > back {
				return text[:len(text)-back]
			}
			return text
		}
	}
	return text
}
