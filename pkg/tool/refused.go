package tool

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/lazyregexp"
	"mcp-bash/pkg/registry/access"
)

// What programs say of a file that they may not use: Bash and the system's tools, Python, Node.
var denied = lazyregexp.New(`(?mi)([^\s:'"‘’][^:'"‘’\n]*)['"’]?: Permission denied$|` +
	`Permission denied: '([^'\n]+)'|EACCES: permission denied, \w+ '([^'\n]+)'`)

// refused says what a confined script lacked, as far as its complaints tell; "" when there
// are none (CF-25). They are the script's own words, so they are looked at and not believed:
// what is said follows from the path alone.
func (c *call) refused(stderr []byte) string {
	if c.hold == nil {
		return ""
	}
	m := denied.FindSubmatch(stderr)
	if m == nil {
		return ""
	}
	path := cmp.Or(string(m[1]), string(m[2]), string(m[3]))
	takes := c.takes(path)
	if takes == "" {
		return ""
	}
	return fmt.Sprintf("%s was refused to %s, which is held to what it declares: it takes %s; "+
		"mcp-runtool %s --explain lists all that is refused", path, c.shown(c.script), takes, c.entry.name)
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
