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

// denied matches messages of programs about a file that they may not use. The first match counts.
// The first pattern is for Go programs and plain shells: an action and an absolute path. The second
// is for system tools, Bash, Python, Node and Ruby.
var denied = []*lazyregexp.Regexp{
	lazyregexp.New(`(?mi)\b(?:open|create|read|l?stat|mkdir|remove|unlink|rename|chdir|fork/exec) ` +
		`(/[^:'"‘’\n]*): permission denied$`),
	lazyregexp.New(`(?mi)(?:\b(?:cannot|t|open|create|read|stat) )*` +
		`([^\s:'"‘’][^:'"‘’\n]*)['"’]?(?: for (?:reading|writing))?: Permission denied$|` +
		`Permission denied: '([^'\n]+)'|EACCES: permission denied, \w+ '([^'\n]+)'|Permission denied @ \w+ - ([^\n]+)`),
}

func deniedPath(stderr []byte) string {
	for _, pattern := range denied {
		if m := pattern.FindSubmatch(stderr); m != nil {
			return string(bytes.Join(m[1:], nil)) // only one group matches
		}
	}
	return ""
}

// deniedHint explains which declaration a confined script lacks, or returns "" (CF-25). The
// messages of the script only select the path: the hint follows from the path alone.
func (c *call) deniedHint(stderr []byte) string {
	if c.hold == nil {
		return ""
	}
	path := deniedPath(stderr)
	if path == "" {
		return ""
	}
	remedy := c.remedy(path)
	if remedy == "" {
		return ""
	}
	return fmt.Sprintf("%s was refused to %s, which is confined to what it declares: it takes %s; "+
		"mcp-runtool %s --explain lists everything that is refused", path, c.shown(c.script), remedy, c.entry.name)
}

// confinedHint returns how to find denied accesses of a confined script, because the script may
// hide messages of its programs. It returns "" for scripts that are not confined.
func (c *call) confinedHint() string {
	if c.hold == nil || c.request.Observer != nil {
		return ""
	}
	return fmt.Sprintf("%s is confined to what it declares; mcp-runtool %s --explain lists what is refused",
		c.shown(c.script), c.entry.name)
}

// remedy returns the declaration that would permit a confined script to use a path.
func (c *call) remedy(path string) string {
	needs := &c.needs
	switch {
	case strings.HasPrefix(path, "/dev/tcp/"), path == "connect", path == "socket":
		return access.NetworkRemedy
	case strings.HasPrefix(path, "/dev/udp/"):
		return "the capability Network"
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.tools.project.Root, path)
	}
	if info, err := os.Stat(path); !needs.Has(access.Process) && err == nil && info.Mode().IsRegular() &&
		info.Mode()&0o111 != 0 {
		return access.ProgramRemedy(filepath.Base(path))
	}
	capability := "FileSystem"
	switch below := c.request.Roots.Contains(path); {
	case !below && c.tools.Sandbox.Homes().Hold(filepath.Clean(path)):
		return "" // it contains too much to be declared (CF-55)
	case needs.Has(access.FileSystem):
		return "" // the system denies the access, not the confinement
	case below && !needs.Has(access.Search) && !needs.Has(access.Edit):
		capability = "Search to read it, Edit to write it"
	case below && !needs.Has(access.Edit):
		capability = "Edit"
	}
	return access.FileRemedy(capability)
}
