package mcpb

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxPath and maxPart limit the path of a file in a bundle and each of its parts, in bytes,
// because macOS cannot unpack longer ones. maxWindowsPath is in characters, because Windows
// limits the path with the target directory to 260 (CLI-1434).
const (
	maxPath        = 900
	maxPart        = 255
	maxWindowsPath = 200
)

// devices are names of devices on Windows. Any extension can follow.
var devices = []string{
	"con", "prn", "aux", "nul", "conin$", "conout$",
	"com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
	"lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
	"com¹", "com²", "com³", "lpt¹", "lpt²", "lpt³",
}

// checkName returns an error if a file with this name cannot be in a bundle. macOS and Linux
// must be able to unpack it below the target directory. A backslash is always rejected,
// because some programs unpack it as a slash.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("an empty name")
	case !utf8.ValidString(name):
		return fmt.Errorf("%q: not UTF-8", name)
	case len(name) > maxPath:
		return fmt.Errorf("%.60q...: longer than %d bytes", name, maxPath)
	case strings.HasPrefix(name, "/"):
		return fmt.Errorf("%q: an absolute path", name)
	case strings.Contains(name, `\`):
		return fmt.Errorf("%q: a backslash, which some programs treat as a slash", name)
	case strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("%q: control characters in a name", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "..":
			return fmt.Errorf("%q: leads out of the bundle", name)
		case part == "" || part == ".":
			return fmt.Errorf("%q: a path with an empty or single-dot part", name)
		case len(part) > maxPart:
			return fmt.Errorf("%.60q...: a name of more than %d bytes", name, maxPart)
		}
	}
	return nil
}

// windowsFault returns the reason why Windows cannot create a file with an otherwise valid
// name, or "".
func windowsFault(name string) string {
	if utf8.RuneCountInString(name) > maxWindowsPath {
		return fmt.Sprintf("longer than %d characters, more than Windows can unpack", maxWindowsPath)
	}
	for part := range strings.SplitSeq(name, "/") {
		stem, _, _ := strings.Cut(part, ".")
		switch {
		case strings.ContainsAny(part, `:*?"<>|`):
			return `a name with one of : * ? " < > |, which Windows does not allow`
		case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
			return "a name that ends with a dot or a space, which Windows drops"
		case slices.Contains(devices, strings.ToLower(strings.TrimRight(stem, " "))):
			return "the name of a device on Windows"
		}
	}
	return ""
}

// Names checks which names can be in one directory tree. On macOS and Windows, case and
// Unicode composition make no difference. On every system, a name cannot be both a file and
// a directory. The zero value is ready to use.
type Names struct {
	files map[string]string
	dirs  map[string]string
}

// Add adds the name of another file. It returns an error if the name is invalid or conflicts
// with another one.
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
		return fmt.Errorf("%+q and %+q: one name on macOS and Windows, where neither case nor composition makes a difference",
			other, name)
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

// Has reports whether a file with exactly this name was added. other is a different name
// that is the same on macOS and Windows.
func (n *Names) Has(name string) (ok bool, other string) {
	there, ok := n.files[fold(name)]
	if there == name {
		return ok, ""
	}
	return false, there
}

// fold returns a name as the file systems of macOS and Windows compare it: without case,
// composed, and without invisible characters (HFS+).
func fold(name string) string {
	isHidden := func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}
	return norm.NFC.String(strings.ToLower(strings.ToUpper(norm.NFD.String(strings.Map(isHidden, name)))))
}
