// Package requirements reads server.d/requirements.json: the programs that a project needs.
package requirements

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/lazyregexp"
)

// Requirements are the requirements of a project in server.d/requirements.json.
type Requirements struct {
	MinVersion   string
	Dependencies []Dependency
}

// A Dependency is a program that a project needs. Texts are "" if they are missing.
type Dependency struct {
	Programs    []string // alternatives, by name or absolute path
	MinVersion  string   // of the programs
	Check       string   // a command that prints the version
	InstallHint string   // how to install one of the programs
	Debian      string   // the Debian package that contains one of the programs
}

// Names reports whether a program is one of the dependencies, or mcp-bash. r may be nil.
func (r *Requirements) Names(program string) bool {
	if r == nil {
		r = &Requirements{}
	}
	isNamed := func(name string) bool { return path.Base(name) == path.Base(program) }
	return program == "mcp-bash" || slices.ContainsFunc(r.Dependencies, func(d Dependency) bool {
		return slices.ContainsFunc(d.Programs, isNamed)
	})
}

// File is the name of the file in the directory of the server.
const File = "requirements.json"

const maxSize = 1 << 20

// Read reads the requirements of a project. It returns nil if the file does not exist.
func Read(p *project.Project) (*Requirements, error) {
	text, err := p.ReadFile(filepath.Join(p.Server, File), maxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return parse(text)
}

func parse(text []byte) (*Requirements, error) {
	doc, err := item.ParseObject(text)
	if err != nil {
		return nil, err
	}
	r := &Requirements{}
	framework := rawjson.Get(doc, "framework")
	if !rawjson.Absent(framework) && rawjson.KindOf(framework) != rawjson.Object {
		return nil, errors.New("framework must be an object")
	}
	if v := rawjson.Get(framework, "minVersion"); !rawjson.Absent(v) {
		if r.MinVersion, _ = rawjson.Text(v); !IsVersion(r.MinVersion) {
			return nil, errors.New(`framework.minVersion must be a version such as "2.0.0"`)
		}
	}
	list := rawjson.Get(doc, "dependencies")
	if !rawjson.Absent(list) && rawjson.KindOf(list) != rawjson.Array {
		return nil, errors.New("dependencies must be an array")
	}
	i := 0
	for entry := range rawjson.Elements(list) {
		d, err := parseDependency(entry)
		if err != nil {
			return nil, fmt.Errorf("dependencies[%d]%w", i, err)
		}
		r.Dependencies = append(r.Dependencies, d)
		i++
	}
	return r, nil
}

// parseDependency parses one entry. An error continues the name of the entry.
func parseDependency(entry json.RawMessage) (d Dependency, err error) {
	if d.Programs = alternatives(entry); d.Programs == nil {
		return d, errors.New(` must be {"name": PROGRAM} or {"or": [PROGRAM, ...]}`)
	}
	for name, field := range map[string]*string{
		"minVersion": &d.MinVersion, "check": &d.Check, "installHint": &d.InstallHint, "debian": &d.Debian,
	} {
		if v := rawjson.Get(entry, name); !rawjson.Absent(v) {
			if *field, _ = rawjson.Text(v); *field == "" {
				return d, fmt.Errorf(".%s must be a text", name)
			}
		}
	}
	version := versionIn(d.MinVersion)
	if !strings.HasPrefix(strings.TrimPrefix(d.MinVersion, "v"), version) || version == "" && d.MinVersion != "" {
		return d, errors.New(`.minVersion must be a version such as "2.0"`)
	}
	d.MinVersion = version
	return d, nil
}

// alternatives returns the programs of an entry, or nil if it is invalid.
func alternatives(entry json.RawMessage) []string {
	if name := rawjson.TextOf(entry, "name"); name != "" {
		return []string{name}
	}
	names, ok := rawjson.Strings(rawjson.Get(entry, "or"))
	if !ok || len(names) == 0 || slices.Contains(names, "") {
		return nil
	}
	return names
}

// IsVersion reports whether a text is a version: one to three numbers, with an optional v.
func IsVersion(text string) bool {
	v := "v" + strings.TrimPrefix(text, "v")
	return semver.IsValid(v) && semver.Prerelease(v)+semver.Build(v) == ""
}

// A Fault is the reason why a program of a project is not as required.
type Fault int

// The faults of a [Verdict].
const (
	Met     Fault = iota
	Missing       // no alternative is installed
	TooOld        // all alternatives have versions below the minimum
	Unknown       // the version cannot be found out, or the check was not run
)

// A Verdict is the result of an examination.
type Verdict struct {
	Fault Fault
	Text  string // the reason; "" for Met
}

const (
	checkTime   = 5 * time.Second
	checkOutput = 64 << 10
)

// Find returns the alternatives that are installed: on a PATH, or by their path.
func (d *Dependency) Find(path string) (found []string) {
	for _, name := range d.Programs {
		isName := filepath.IsAbs(name) || !strings.ContainsAny(name, `/\`) // no relative path is a name
		if file := script.Locate(name, path); isName && file != "" {
			found = append(found, file)
		}
	}
	return found
}

// Absent returns the verdict for a dependency without an installed program.
func (d *Dependency) Absent() Verdict {
	return Verdict{Missing, strings.Join(d.Programs, " or ") + " is not installed"}
}

// Examine finds the program of a dependency and, if there is a minimum version or a check, its version. It starts only
// programs of the dependency that are on PATH, and asks them for nothing but their version.
func (d *Dependency) Examine(ctx context.Context, r *script.Runner, path string) Verdict {
	found := d.Find(path)
	if len(found) == 0 {
		return d.Absent()
	}
	words, ok := d.checkWords()
	switch {
	case !ok:
		return Verdict{Unknown, fmt.Sprintf("check %q is not run: write %s --version, or command -v %s", d.Check,
			d.Programs[0], d.Programs[0])}
	case d.MinVersion == "" && len(words) < 2:
		return Verdict{}
	}
	var worst Verdict
	for _, file := range found {
		v := Verdict{Unknown, file + " is named by its path, and only programs on PATH are asked for their version"}
		if !slices.Contains(d.Programs, file) {
			v = d.examine(ctx, r, file, words, path)
		}
		if v.Fault == Met {
			return v
		}
		if worst.Fault == Met || v.Fault == Unknown {
			worst = v
		}
	}
	return worst
}

// examine asks one program for its version.
func (d *Dependency) examine(ctx context.Context, r *script.Runner, file string, words []string, path string) Verdict {
	name, flag := filepath.Base(file), "--version"
	if len(words) > 1 {
		if filepath.Base(words[0]) != name {
			return Verdict{} // the check is of another alternative
		}
		flag = words[1]
	}
	res := r.Run(ctx, script.Spec{
		Argv: []string{file, flag}, Env: []string{"PATH=" + path, "LC_ALL=C", "HOME=/nonexistent"}, Dir: filepath.Dir(file),
		Timeout: checkTime, StdoutLimit: checkOutput, StderrLimit: checkOutput,
	})
	output := slices.Concat(res.Stdout, []byte{'\n'}, res.Stderr)
	switch version := versionIn(string(output)); {
	case res.Cause != nil || res.Status != 0:
		reason := fmt.Sprintf("exit status %d", res.Status)
		if res.Cause != nil {
			reason = res.Cause.Error()
		}
		return Verdict{Unknown, fmt.Sprintf("%s %s fails: %s", name, flag, reason)}
	case d.MinVersion == "":
		return Verdict{}
	case version == "":
		return Verdict{Unknown, fmt.Sprintf("%s %s prints no version, and %s is required", name, flag, d.MinVersion)}
	case compareVersions(version, d.MinVersion) < 0:
		return Verdict{TooOld, fmt.Sprintf("%s has version %s, and %s is required", name, version, d.MinVersion)}
	}
	return Verdict{}
}

var (
	dotted = lazyregexp.New(`(?:^|[^0-9.])([0-9]{1,9}(?:\.[0-9]{1,9})+)`)
	number = lazyregexp.New(`\b([0-9]{1,9})\b`)
)

// versionFlags are the arguments with which a program prints its version, and changes nothing.
var versionFlags = []string{"--version", "-version", "-V", "-v", "version", "--help", "-h", "-help"}

// checkWords returns the words of the check: a program and an argument. They are nil if it is enough to find the
// program. ok is false for a check that is not run.
func (d *Dependency) checkWords() (words []string, ok bool) {
	words = slices.DeleteFunc(strings.Fields(d.Check), func(word string) bool {
		return slices.Contains([]string{">/dev/null", "2>&1", "2>/dev/null", "&>/dev/null"}, word)
	})
	switch {
	case len(words) == 0:
		return nil, d.Check == ""
	case slices.Contains(d.Programs, words[0]) && len(words) == 2 && slices.Contains(versionFlags, words[1]):
		return words, true
	case slices.Contains(d.Programs, words[len(words)-1]):
		before := strings.Join(words[:len(words)-1], " ")
		return nil, slices.Contains([]string{"command -v", "which", "type", "hash"}, before)
	}
	return nil, false
}

// compareVersions compares versions number by number. Missing numbers are 0.
func compareVersions(a, b string) int {
	one, two := strings.Split(a, "."), strings.Split(b, ".")
	at := func(list []string, i int) int {
		if i >= len(list) {
			return 0
		}
		n, _ := strconv.Atoi(list[i])
		return n
	}
	for i := range max(len(one), len(two)) {
		if c := cmp.Compare(at(one, i), at(two, i)); c != 0 {
			return c
		}
	}
	return 0
}

// versionIn returns the first version in a text: numbers with dots, or else a single number.
func versionIn(text string) string {
	for _, form := range []*lazyregexp.Regexp{dotted, number} {
		if m := form.FindStringSubmatch(text); m != nil {
			return m[1]
		}
	}
	return ""
}

// Framework returns the reason why a version of mcp-bash is too old for the project, or "".
func (r *Requirements) Framework(version string) string {
	numbers := versionIn(version)
	required := strings.TrimPrefix(r.MinVersion, "v")
	if required == "" || compareVersions(numbers, required) >= 0 {
		return ""
	}
	return fmt.Sprintf("mcp-bash has version %s, and %s is required", version, required)
}
