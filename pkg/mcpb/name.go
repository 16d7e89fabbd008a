package mcpb

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is how long the path of a file in a bundle may be, in characters: with
// the directory it is unpacked to, Windows takes 260 (CLI-1434).
const maxName = 200

// devices are names that mean a device on Windows, whatever extension follows.
var devices = []string{
	"con", "prn", "aux", "nul", "conin$", "conout$",
	"com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
	"lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
	"com¹", "com²", "com³", "lpt¹", "lpt²", "lpt³",
}

// checkName returns why a file of this name cannot be in a bundle; nil when it can
// be unpacked on every system and lies below the directory it is unpacked to.
func checkName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("an empty name")
	case !utf8.ValidString(name):
		return fmt.Errorf("%q: not UTF-8", name)
	case utf8.RuneCountInString(name) > maxName:
		return fmt.Errorf("%q: longer than %d characters, more than Windows can unpack", name, maxName)
	case strings.HasPrefix(name, "/"):
		return fmt.Errorf("%q: an absolute path", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if reason := checkPart(part); reason != "" {
			return fmt.Errorf("%q: %s", name, reason)
		}
	}
	return nil
}

func checkPart(part string) string {
	stem, _, _ := strings.Cut(part, ".")
	switch {
	case part == "..":
		return "leads out of the bundle"
	case part == "" || part == ".":
		return "a path with an empty or single-dot part"
	case strings.ContainsFunc(part, unicode.IsControl):
		return "control characters in a name"
	case strings.ContainsAny(part, `\:*?"<>|`):
		return `a name with one of \ : * ? " < > |, which Windows does not allow`
	case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
		return "a name that ends with a dot or a space, which Windows drops"
	case slices.Contains(devices, strings.ToLower(strings.TrimRight(stem, " "))):
		return "the name of a device on Windows"
	}
	return ""
}

// Names finds out which names cannot be in one directory tree: on macOS and
// Windows case makes no difference, and nowhere is a name a file and a directory.
// The zero value is ready.
type Names struct {
	files map[string]string
	dirs  map[string]string
}

// Add takes in the name of another file. The error says why it cannot be there.
func (n *Names) Add(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if n.files == nil {
		n.files, n.dirs = make(map[string]string), make(map[string]string)
	}
	folded := fold(name)
	if other, ok := n.files[folded]; ok {
		if other == name {
			return fmt.Errorf("%q: twice", name)
		}
		return fmt.Errorf("%q and %q: one name on macOS and Windows, where case makes no difference", other, name)
	}
	if dir, ok := n.dirs[folded]; ok {
		return fmt.Errorf("%q: a file, and the directory of %q", name, dir)
	}
	for at := range len(folded) {
		if folded[at] != '/' {
			continue
		}
		if file, ok := n.files[folded[:at]]; ok {
			return fmt.Errorf("%q: a file, and the directory of %q", file, name)
		}
		if _, ok := n.dirs[folded[:at]]; !ok {
			n.dirs[folded[:at]] = name
		}
	}
	n.files[folded] = name
	return nil
}

// Has reports whether a file of exactly this name was added; other is one whose
// name differs in case only.
func (n *Names) Has(name string) (ok bool, other string) {
	there, ok := n.files[fold(name)]
	if there == name {
		return ok, ""
	}
	return false, there
}

// fold is a name as a file system compares it that ignores case.
func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }
