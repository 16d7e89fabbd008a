package registry

import (
	"path"
	"runtime"
	"strings"
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
func isCompanion(l *look, file string) bool {
	for _, suffix := range companionSuffixes {
		if strings.HasSuffix(file, suffix) {
			executable := l.modeOf(file)&0o111 != 0 || runtime.GOOS == "windows"
			described := l.hasFile(file+metaSuffix) || strings.HasSuffix(file, ".sh") && l.hasFile(stem(file)+metaSuffix)
			return executable && !described
		}
	}
	return false
}

// isDocumentation: a README among described files explains them. The
// caller knows that it is not described itself.
func isDocumentation(l *look, file string) bool {
	if file != "README.md" {
		return false
	}
	return l.hasMetadata()
}
