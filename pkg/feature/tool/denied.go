package tool

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/run/scriptenv"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/text/lazyregexp"
	"mcp-bash/pkg/text/shell"
)

// denied matches messages of programs about a file or program that they may not use.
// The first pattern is for Go programs and plain shells: an action and an absolute path. The second
// is for system tools, Bash, awk, Perl, Python, Node and Ruby.
var denied = []*lazyregexp.Regexp{
	lazyregexp.New(`(?mi)\b(?:open|create|read|l?stat|mkdir|remove|unlink|rename|chdir|fork/exec) ` +
		`(/[^:'"‘’\n]*): permission denied$`),
	lazyregexp.New(`(?mi)(?:\b(?:cannot|t|open|create|read|stat|run|exec) )*` +
		`([^\s:'"‘’][^:'"‘’\n]*)['"’]?(?: for (?:reading|writing)|: bad interpreter|: Cannot exec| failed)?: ` +
		`Permission denied(?: at .* line \d+\.| \(13\))?$|exec (/\S+)[^\n]*\(Permission denied\)$|` +
		`Permission denied: '([^'\n]+)'|EACCES: permission denied, \w+ '([^'\n]+)'|spawn(?:Sync)? (\S+) EACCES|` +
		`Permission denied(?: @ \w+)? - ([^\n]+?)(?: \(Errno::EACCES\))?$`),
}

// maxDenied limits the messages that are looked at.
const maxDenied = 32

// createsFile matches the text before the name of a file that a shell or a program could not create.
var createsFile = lazyregexp.New(`(?i)(?:: line \d+: |\bcreate (?:[a-z]+ ){0,3}['"‘]?)$`)

// A deniedName is a file or program that a message names.
type deniedName struct {
	name  string
	isNew bool // perhaps a file that could not be created
}

func deniedNames(stderr string) (names []deniedName) {
	if !strings.Contains(stderr, "ermission denied") && !strings.Contains(stderr, "EACCES") {
		return nil // the patterns are slow
	}
	for _, pattern := range denied {
		for _, m := range pattern.FindAllStringSubmatchIndex(stderr, maxDenied) {
			for m = m[2:]; m[0] < 0; m = m[2:] { // only one group matches
			}
			before := stderr[strings.LastIndexByte(stderr[:m[0]], '\n')+1 : m[0]]
			names = append(names, deniedName{stderr[m[0]:m[1]], createsFile.MatchString(before)})
		}
	}
	return names
}

// A refusal is an access that the confinement of a call refuses.
type refusal struct {
	name   string // as the script named it
	remedy string // the declaration that permits the access, or ""
	starts bool   // the script could not start a program
	shared bool   // the file is in /tmp, not in the script's own temporary folder
}

// refused returns the first refusal that messages are about, or nil. A program that could not start comes first. The
// messages only select names: the rules of the confinement decide.
func (c *call) refused(stderr []byte) (first *refusal) {
	if c.confinement == nil {
		return nil
	}
	for _, denied := range deniedNames(string(stderr[:min(len(stderr), maxHead)])) {
		r := c.refusal(denied)
		if r != nil && r.starts {
			first = r
			break
		}
		if first == nil {
			first = r
		}
	}
	if e := c.request.Event; e != nil && first != nil {
		e.Draft.Refused = first.name
	}
	return first
}

// refusal returns the access that the confinement refuses to a file that a message names, or nil.
func (c *call) refusal(denied deniedName) *refusal {
	name := denied.name
	switch {
	case strings.HasPrefix(name, "/dev/tcp/"), name == "connect", name == "socket":
		port, _ := strconv.ParseUint(path.Base(name), 10, 16)
		if !c.confinement.RefusesPort(uint16(port)) {
			return nil
		}
		return &refusal{name: name, remedy: access.NetworkRemedy}
	case strings.HasPrefix(name, "/dev/udp/"):
		if !c.confinement.RefusesPort(0) {
			return nil
		}
		return &refusal{name: name, remedy: "the capability Network"}
	}
	program := ""
	if !strings.ContainsRune(name, '/') {
		program = script.LookPath(name, c.tools.path())
	}
	if c.confinement.Refuses(program) == sandbox.StartRefused {
		return &refusal{name: name, remedy: access.ProgramRemedy(name), starts: true}
	}
	denied.isNew = denied.isNew && program == ""
	for _, file := range c.meant(denied) {
		switch c.confinement.Refuses(file) {
		case sandbox.StartRefused:
			return &refusal{name: name, remedy: access.ProgramRemedy(c.declared(file)), starts: true}
		case sandbox.UseRefused:
			r := &refusal{name: name, remedy: c.fileRemedy(file), shared: denied.isNew && filepath.Dir(file) == "/tmp"}
			if r.shared && r.remedy != "" {
				r.remedy = `"${TMPDIR:-/tmp}" instead of /tmp in the script, or ` + r.remedy
			}
			return r
		}
	}
	return nil
}

// meant returns the absolute paths that a file name in a message can mean. The file of each path exists or was to be
// created.
func (c *call) meant(denied deniedName) (paths []string) {
	name := denied.name
	if filepath.IsAbs(name) {
		return []string{name}
	}
	dirs := []string{c.tools.project.Root}
	if list := c.request.Roots.List; len(list) == 1 && c.entry.output != nil { // imported scripts start in this root
		dirs = []string{list[0].Path, c.tools.project.Root}
	} else if len(list) == 1 {
		dirs = append(dirs, list[0].Path)
	}
	for _, dir := range dirs {
		file := filepath.Join(dir, name)
		if _, err := os.Lstat(file); err == nil {
			paths = append(paths, file)
		}
	}
	if denied.isNew && paths == nil {
		paths = append(paths, filepath.Join(dirs[0], name))
	}
	return paths
}

// declared returns the entry of confine.exec for a program: its name if tools find it on their PATH.
func (c *call) declared(program string) string {
	name, root := filepath.Base(program), c.tools.project.Root
	switch rel, err := filepath.Rel(root, program); {
	case script.LookPath(name, c.tools.path()) == program:
		return name
	case err == nil && fsys.Within(root, program):
		return access.Spell("./"+filepath.ToSlash(rel), true)
	}
	return program
}

// deniedHint explains which declaration a confined script lacks, or returns "".
func (c *call) deniedHint(stderr []byte) string {
	r := c.refused(stderr)
	if r == nil || r.remedy == "" {
		return ""
	}
	return fmt.Sprintf("%s was refused to %s, which is confined to what it declares: it takes %s; "+
		"mcp-runtool %s --explain lists everything that is refused", r.name, c.shown(c.script), r.remedy, c.entry.name)
}

// dormantHint returns the hint for a script that could not be started because it lacks the execute bit, or "".
func (c *call) dormantHint(stderr []byte) string {
	for _, denied := range deniedNames(string(stderr)) {
		for _, file := range c.meant(denied) {
			info, err := os.Stat(file)
			isDormant := err == nil && script.IsDormant(info.Mode(), c.head(file, 8))
			if isDormant && c.confinement.Refuses(file) == sandbox.NotRefused {
				where := c.shown(file)
				return where + " is not executable, so it cannot be started; run chmod +x " + shell.Quote(where)
			}
		}
	}
	return ""
}

// failedQuietly reports whether the confinement stopped a script that seems to have succeeded. The script could not
// start a program, or not create a temporary file, or it printed only a message about a refused file.
func (c *call) failedQuietly(res *script.Result) bool {
	r := c.refused(res.Stderr)
	return r != nil && (r.starts || r.shared || len(bytes.TrimSpace(res.Stdout)) == 0)
}

// mayBeRefused matches lines about an access that a confinement may have refused, and otherReason lines with another
// reason.
var (
	mayBeRefused = lazyregexp.New(`(?i)denied|not permitted|EACCES|EPERM|\bcan(?:no|')t\b|could(?: not|n't)|unable|fail|` +
		`resolve`)
	otherReason = lazyregexp.New(`(?i)no such|not (?:found|exist|a directory|empty)|is a directory|exists|invalid|` +
		`unknown|unrecogni[sz]ed|illegal|syntax|usage:|missing|requires?\b`)
)

// confinedHint returns how to find denied accesses of a confined script, because the script may hide messages of its
// programs. It returns "" if the script is not confined, or if its messages show another reason.
func (c *call) confinedHint(stderr []byte) string {
	if c.confinement == nil || c.request.Observer != nil {
		return ""
	}
	if stderr = bytes.TrimSpace(stderr); len(stderr) > 0 && !slices.ContainsFunc(bytes.Split(stderr, []byte("\n")),
		func(line []byte) bool { return mayBeRefused.Match(line) && !otherReason.Match(line) }) {
		return ""
	}
	return fmt.Sprintf("%s is confined to what it declares; mcp-runtool %s --explain lists what is refused",
		c.shown(c.script), c.entry.name)
}

// fileRemedy returns the declaration that would permit a confined script to use a file, or "".
func (c *call) fileRemedy(file string) string {
	needs, capability := &c.needs, "FileSystem"
	switch below := c.request.Roots.Contains(file); {
	case !below && c.tools.Sandbox.Homes().Hold(filepath.Clean(file)):
		return "" // the directory contains too much to be declared
	case needs.Has(access.FileSystem):
		return "" // FileSystem allows more than any other declaration
	case below && !needs.Has(access.Search) && !needs.Has(access.Edit):
		capability = "Search to read it, Edit to write it"
	case below && !needs.Has(access.Edit):
		capability = "Edit"
	case below && fsys.Within(filepath.Dir(file), c.tools.project.Root):
		return "an entry that exists before the call, or a root that does not contain the project"
	}
	return access.FileRemedy(capability)
}

var (
	// unsetVariable matches the messages of shells about a variable that is not set.
	unsetVariable = lazyregexp.New(`(?m): ([A-Z][A-Z0-9_]*): (?:unbound variable|parameter (?:null or )?not set)\r?$`)
	// aboutVariable matches a line of a message, of a shell or another program, that may be about a variable.
	aboutVariable = lazyregexp.New(`(?mi)^.*(?:\bline \d+: \w+: |\b(?:un)?set\b|environment|variable|missing|` +
		`requires?\b|required|\bneeds?\b|\bdefined?\b|undefined|\bexport\b|\bempty\b|keyerror).*$`)
	variableName = lazyregexp.New(`\b[A-Z][A-Z0-9_]{2,}\b`)
	// variableRead matches the expansion of a variable. The second group is set if the expansion has a default.
	variableRead = lazyregexp.New(`\$(?:\{([A-Z][A-Z0-9_]{2,})(?:\}|:?\?|(:?[-=+]))|([A-Z][A-Z0-9_]{2,})\b)`)
	// setsNames matches commands that set the variables whose names follow.
	setsNames = lazyregexp.New(`\b(?:read|mapfile|readarray|getopts|printf -v)\b`)
	// loadsFile matches a line that loads another file.
	loadsFile = lazyregexp.New(`(?m)^[ \t]*(?:source|\.)[ \t].*$`)
)

// variableHint returns the hint for a script whose message names a variable that it did not get, or "".
func (c *call) variableHint(message []byte) string {
	for _, line := range aboutVariable.FindAllStringSubmatch(string(message), -1) {
		for _, m := range variableName.FindAllStringSubmatch(line[0], -1) {
			if c.drops(m[0]) {
				return c.dropped(c.script, "needs", m[0])
			}
		}
	}
	m := unsetVariable.FindSubmatch(message)
	if m == nil {
		return ""
	}
	name := string(m[1])
	if sets(c.head(c.script, maxHead), name) {
		return ""
	}
	if _, given := c.tools.project.Env[name]; given || scriptenv.IsWithheld(name) {
		return ""
	}
	text := fmt.Sprintf("%s needs %s, which the environment of the server does not have; ", c.shown(c.script), name) +
		`set it there, such as in "env" of the server's entry in the client`
	if c.inherits.Drops(name) {
		text += ", and " + c.inherits.Remedy(name)
	}
	return text
}

// variableLine returns the hint for the first variable that a script reads but does not get, or "". A variable with a
// default counts only if the call failed.
func (c *call) variableLine(file string, head []byte, failed bool) string {
	if !isShell(file, head) {
		return ""
	}
	for _, m := range variableRead.FindAllStringSubmatch(string(head), -1) {
		name, reads := m[1]+m[3], c.drops(m[1]+m[3])
		if m[2] != "" {
			reads = failed && c.inherits.DropsValue(name, c.tools.project.Env)
		}
		if reads && !sets(head, name) {
			return c.dropped(file, "reads", name)
		}
	}
	return ""
}

// failedLine is [call.variableLine] for a call that failed. If the tool was imported from another script, failedLine
// examines that script, provided that the call may read it.
func (c *call) failedLine(head []byte) string {
	file := c.script
	record, err := boundedfile.ReadHead(filepath.Join(filepath.Dir(file), ".wrap.json"), maxRecord)
	if script := rawjson.TextOf(record, "script"); err == nil && script != "" {
		if file = script; !filepath.IsAbs(file) {
			file = filepath.Join(c.tools.project.Root, filepath.FromSlash(file))
		}
		if c.confinement.Refuses(file) != sandbox.NotRefused {
			return ""
		}
		head, _ = boundedfile.ReadHead(file, maxHead)
	}
	return c.variableLine(file, head, true)
}

// maxRecord limits the record of how a tool was made, in bytes.
const maxRecord = 1 << 20

// drops reports whether the server has a variable that the script does not get.
func (c *call) drops(name string) bool {
	return c.tools.project.Env[name] != "" && c.inherits.Drops(name)
}

// sets reports whether a script may set a variable itself, or load a file that does.
func sets(head []byte, name string) bool {
	if bytes.Contains(head, []byte(name+"=")) || setsNames.Match(head) {
		return true
	}
	return slices.ContainsFunc(loadsFile.FindAllStringSubmatch(string(head), -1), func(line []string) bool {
		return !strings.Contains(line[0], "-sdk.sh")
	})
}

func (c *call) dropped(file, verb, name string) string {
	return fmt.Sprintf("%s %s %s, which the server has but does not pass on to tools; %s", c.shown(file), verb, name,
		c.inherits.Remedy(name))
}
