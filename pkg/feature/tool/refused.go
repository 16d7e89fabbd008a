package tool

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/text/lazyregexp"
)

// What programs say of a file that they may not use. The first that fits counts: words that end in what was done
// and an absolute path, as of Go programs and plain shells; the system's tools, of which some put words before or
// after the path, Bash, Python, Node and Ruby.
var denied = []*lazyregexp.Regexp{
	lazyregexp.New(`(?mi)\b(?:open|create|read|l?stat|mkdir|remove|unlink|rename|chdir|fork/exec) ` +
		`(/[^:'"‘’\n]*): permission denied$`),
	lazyregexp.New(`(?mi)(?:\b(?:cannot|t|open|create|read|stat) )*` +
		`([^\s:'"‘’][^:'"‘’\n]*)['"’]?(?: for (?:reading|writing))?: Permission denied$|` +
		`Permission denied: '([^'\n]+)'|EACCES: permission denied, \w+ '([^'\n]+)'|Permission denied @ \w+ - ([^\n]+)`),
}

// deniedPath returns the path that a script says it was refused, "" for none.
func deniedPath(stderr []byte) string {
	for _, pattern := range denied {
		if m := pattern.FindSubmatch(stderr); m != nil {
			return string(bytes.Join(m[1:], nil)) // one of them
		}
	}
	return ""
}

// refused says what a confined script lacked, as far as its complaints tell; "" when there
// are none (CF-25). They are the script's own words, so they are looked at and not believed:
// what is said follows from the path alone.
func (c *call) refused(stderr []byte) string {
	if c.hold == nil {
		return ""
	}
	path := deniedPath(stderr)
	if path == "" {
		return ""
	}
	takes := c.takes(path)
	if takes == "" {
		return ""
	}
	return fmt.Sprintf("%s was refused to %s, which is confined to what it declares: it takes %s; "+
		"mcp-runtool %s --explain lists everything that is refused", path, c.shown(c.script), takes, c.entry.name)
}

// confined says that a script is confined and how to find out what it was refused, where nothing else tells: it may
// hide what its programs say. "" for one that is not confined.
func (c *call) confined() string {
	if c.hold == nil || c.request.Observer != nil {
		return ""
	}
	return fmt.Sprintf("%s is confined to what it declares; mcp-runtool %s --explain lists what is refused",
		c.shown(c.script), c.entry.name)
}

// takes is what would allow a confined script to use a path.
func (c *call) takes(path string) string {
	needs := &c.needs
	switch {
	case strings.HasPrefix(path, "/dev/tcp/"), path == "connect", path == "socket":
		return `the capability Network, or the port in "confine": {"connect": [...]}`
	case strings.HasPrefix(path, "/dev/udp/"):
		return "the capability Network"
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.tools.project.Root, path)
	}
	if info, err := os.Stat(path); !needs.Has(access.Process) && err == nil && info.Mode().IsRegular() &&
		info.Mode()&0o111 != 0 {
		return fmt.Sprintf(`the capability Process, or "confine": {"exec": [%q]}`, filepath.Base(path))
	}
	capability := "FileSystem"
	switch below := c.request.Roots.Contains(path); {
	case needs.Has(access.FileSystem):
		return "" // the system itself refuses
	case below && !needs.Has(access.Search) && !needs.Has(access.Edit):
		capability = "Search to read it, Edit to write it"
	case below && !needs.Has(access.Edit):
		capability = "Edit"
	}
	return fmt.Sprintf(`the capability %s, or the path in "confine": {"read": [...]} or {"write": [...]}`, capability)
}
