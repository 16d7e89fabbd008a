package kinds

import (
	"path"
	"runtime"
	"strings"

	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/scan"
)

// The names that a script beside a file has which completes its arguments
//
var sidecarSuffixes = []string{".completion.sh", ".completion"}

// Sidecars are the paths, in the order in which they are tried, where the
// completion script of a prompt or resource with this path may lie.
func Sidecars(file string) []string {
	bases := []string{file}
	dir, name := path.Split(file)
	if base := item.Stem(name); base != name {
		bases = append(bases, dir+base)
	}
	var list []string
	for _, base := range bases {
		for _, suffix := range sidecarSuffixes {
			list = append(list, base+suffix)
		}
	}
	return list
}

// isSidecar reports whether a file completes another one: by its name, by
// being executable, and by not being described itself.
func isSidecar(v *scan.Visit, file string) bool {
	for _, suffix := range sidecarSuffixes {
		if strings.HasSuffix(file, suffix) {
			executable := v.Mode(file)&0o111 != 0 || runtime.GOOS == "windows"
			described := v.HasFile(file+item.MetadataSuffix) || strings.HasSuffix(file, ".sh") && v.HasFile(item.Stem(file)+item.MetadataSuffix)
			return executable && !described
		}
	}
	return false
}

// isDocumentation: a README among described files explains them. The
// caller knows that it is not described itself.
func isDocumentation(v *scan.Visit, file string) bool {
	if file != "README.md" {
		return false
	}
	return v.HasMetadata()
}
