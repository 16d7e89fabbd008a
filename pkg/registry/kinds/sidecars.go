package kinds

import (
	"path"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/internal/scan"
	"mcp-bash/pkg/registry/item"
)

// sidecarSuffixes are what the name of a file is followed by in that of the script
// beside it that completes its arguments.
var sidecarSuffixes = []string{".completion.sh", ".completion"}

// Sidecars returns where the completion script of a prompt or resource with this
// path may lie, in the order in which the paths are tried.
func Sidecars(file string) []string {
	bases := []string{file}
	dir, name := path.Split(file)
	if base := item.Stem(name); base != name {
		bases = append(bases, dir+base)
	}
	return sidecars(bases)
}

// TemplateSidecars returns where the script that completes the variables of a template may lie, in the
// order in which the paths are tried (R-83a). A name that is no file name has none.
func TemplateSidecars(name string) []string {
	if name == "." || name == ".." || strings.ContainsAny(name, `/\`) {
		return nil
	}
	return sidecars([]string{name, name + "/" + name})
}

func sidecars(bases []string) []string {
	var list []string
	for _, base := range bases {
		for _, suffix := range sidecarSuffixes {
			list = append(list, base+suffix)
		}
	}
	return list
}

// isSidecar reports whether a file completes the arguments of another one: it has such a name, and is not
// described itself. Whether it can be started does not matter, as the script must not be published.
func isSidecar(v *scan.Visit, file string) bool {
	for _, suffix := range sidecarSuffixes {
		if strings.HasSuffix(file, suffix) {
			return !v.HasFile(file+item.MetadataSuffix) &&
				!(strings.HasSuffix(file, ".sh") && v.HasFile(item.Stem(file)+item.MetadataSuffix))
		}
	}
	return false
}

// describing returns the metadata of a file: its own, else that of the file called generic, if the
// content files of the directory are this one alone (R-33a). nil for none.
func describing(v *scan.Visit, file, generic string, isContent func(file string) bool) *scan.Metadata {
	if own := v.MetadataOf(file); own != nil {
		return own
	}
	if v.Depth == 0 || !v.HasFile(generic) || file == readme || !isContent(file) {
		return nil
	}
	for other := range v.Files {
		if other != file && other != readme && !isSidecar(v, other) && isContent(other) {
			return nil
		}
	}
	meta := v.MetadataFile(generic)
	if template, _ := rawjson.Text(meta.Last(URITemplate)); !meta.Usable || meta.Moved || template != "" {
		return nil
	}
	meta.Paired = true
	return meta
}

const readme = "README.md"

// isDocumentation reports whether a file that is not described itself is a README
// that explains described ones.
func isDocumentation(v *scan.Visit, file string) bool {
	if file != readme {
		return false
	}
	return v.HasMetadata()
}
