package registry

import (
	"path"
	"runtime"
	"strings"

	"mcp-bash/pkg/media"
)

// The names that a script beside a file has which completes its arguments
//
var companionSuffixes = []string{".completion.sh", ".completion"}

// Companions are the paths, in the order in which they are tried, where the
// completion script of a prompt or resource with this path may lie.
func Companions(file string) []string {
	bases := []string{file}
	dir, name := path.Split(file)
	if base := stem(name); base != name {
		bases = append(bases, dir+base)
	}
	var list []string
	for _, base := range bases {
		for _, suffix := range companionSuffixes {
			list = append(list, base+suffix)
		}
	}
	return list
}

// isCompanion reports whether a file completes another one: by its name, by
// being executable, and by not being described itself.
func (l *look) isCompanion(file string) bool {
	for _, suffix := range companionSuffixes {
		if strings.HasSuffix(file, suffix) {
			s := l.dir.stamp(file)
			l.noted(note{name: file, stamp: s})
			executable := s.mode&0o111 != 0 || runtime.GOOS == "windows"
			described := l.hasFile(file+metaSuffix) || strings.HasSuffix(file, ".sh") && l.hasFile(stem(file)+metaSuffix)
			return executable && !described
		}
	}
	return false
}

// isDocumentation: a README among described files explains them. The
// caller knows that it is not described itself.
func (l *look) isDocumentation(file string) bool {
	if file != "README.md" {
		return false
	}
	for _, e := range l.rec.entries {
		if !e.isDir && strings.HasSuffix(e.name, metaSuffix) {
			return true
		}
	}
	return false
}

// isText reports whether a file is text, by its beginning.
func (l *look) isText(name string) bool {
	file, err := l.open(name)
	if err != nil {
		return false
	}
	defer file.close()
	buf := l.space(int(min(file.stamp.size, headMax)))
	n, err := file.read(buf)
	if err != nil {
		l.doubt()
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
