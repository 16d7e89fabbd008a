package mcpb

import (
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/schema"
	"mcp-bash/pkg/text/lazyregexp"
	"mcp-bash/pkg/text/weburl"
)

// A Report is the result of checking a bundle, its directory or its manifest.
type Report struct {
	Manifest json.RawMessage // nil if it cannot be read
	Archive  *Archive        // nil for a directory or a manifest
	SHA256   string          // of the file; "" for a directory
	Faults   []Fault
}

const pngSignature = "\x89PNG\r\n\x1a\n"

// CheckFile checks a bundle, a directory or a manifest as the official tool does. It also checks that a bundle has the
// files that clients need. It returns an error only if f cannot be read. The archive of the report can be read while f
// is open.
func CheckFile(f *os.File) (*Report, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return checkDir(f.Name())
	case !info.Mode().IsRegular():
		return nil, boundedfile.ErrNotRegular
	}
	sum, err := File{Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(f, 0, info.Size())), nil
	}}.Sum()
	if err != nil {
		return nil, err
	}
	r := &Report{SHA256: sum}
	head := make([]byte, 4)
	if n, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, err
	} else if string(head[:n]) == "PK\x03\x04" || filepath.Ext(f.Name()) != ".json" {
		return r, r.checkArchive(f, info.Size())
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxManifest+1)) // one byte more than allowed
	if err != nil {
		return nil, err
	}
	r.read(text, nil)
	return r, nil
}

func (r *Report) read(text []byte, err error) {
	if err == nil {
		r.Manifest, err = ParseManifest(text)
	}
	if err != nil {
		r.Faults = append(r.Faults, Fault{ManifestName, err.Error()})
		return
	}
	r.Faults = append(r.Faults, CheckManifest(r.Manifest)...)
}

func (r *Report) checkArchive(f *os.File, size int64) error {
	a, err := Read(f, size)
	if err != nil {
		return err
	}
	r.Archive, r.Faults = a, a.Faults()
	if r.read(a.Manifest()); r.Manifest == nil {
		return nil
	}
	r.checkNames(&a.Names)
	icon := rawjson.TextOf(r.Manifest, "icon")
	if f, _ := a.Names.Find(icon); icon != "" && f.Name == icon {
		r.checkIcon(f.Open())
	}
	return a.Verify()
}

func (r *Report) checkNames(names *Names) {
	r.Faults = append(r.Faults, CheckFiles(r.Manifest, names)...)
	r.Faults = append(r.Faults, CheckWindows(r.Manifest, names)...)
}

func (r *Report) checkIcon(icon io.ReadCloser, err error) {
	head := make([]byte, len(pngSignature))
	if err == nil {
		defer icon.Close()
		_, err = io.ReadFull(icon, head)
	}
	if err != nil || string(head) != pngSignature {
		r.Faults = append(r.Faults, Fault{"icon", "not a PNG picture"})
	}
}

// Verify reads every file, and returns an error for the first damaged one.
func (a *Archive) Verify() error {
	return a.Each(func(f File) error {
		if _, err := f.Sum(); err != nil {
			return fmt.Errorf("%q: damaged: %w", f.Name, err)
		}
		return nil
	})
}

func checkDir(dir string) (*Report, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	r, names := &Report{}, &Names{}
	if info, err := root.Stat(ManifestName); err != nil {
		r.read(nil, errNoManifest)
	} else if !info.Mode().IsRegular() || info.Size() > MaxManifest {
		r.read(nil, errors.New("not a manifest"))
	} else {
		r.read(root.ReadFile(ManifestName))
	}
	count := 0
	err = Walk(root, func(f File, isRegular bool) error {
		if count++; count > MaxEntries {
			return fmt.Errorf("more than %d files", MaxEntries)
		}
		err := names.Add(f)
		if !isRegular {
			err = errors.New("not a regular file")
		}
		if err != nil {
			r.Faults = append(r.Faults, Fault{f.Name, err.Error()})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if r.Manifest != nil {
		r.checkNames(names)
	}
	return r, nil
}

//go:embed schema/*.json
var published embed.FS

// Versions are the supported manifest versions, the default first.
var Versions = []string{"0.3", "0.4"}

// schemas are the published schemas. Each is compiled at its first use.
var schemas = map[string]func() (*schema.Schema, error){
	"0.3": sync.OnceValues(func() (*schema.Schema, error) { return load("0.3") }),
	"0.4": sync.OnceValues(func() (*schema.Schema, error) { return load("0.4") }),
}

func load(version string) (*schema.Schema, error) {
	text, err := published.ReadFile("schema/v" + version + ".json")
	if err != nil {
		return nil, err
	}
	return schema.Compile(text)
}

// A Fault is a problem of a manifest.
type Fault struct {
	Path   string // "author.email"
	Reason string
}

func (f Fault) String() string { return f.Path + ": " + f.Reason }

// ParseManifest parses a manifest, which is untrusted.
func ParseManifest(text []byte) (json.RawMessage, error) {
	if len(text) > MaxManifest {
		return nil, fmt.Errorf("%s is larger than %d bytes", ManifestName, MaxManifest)
	}
	doc, err := rawjson.Check(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not valid JSON: %w", ManifestName, err)
	}
	if rawjson.KindOf(doc) != rawjson.Object {
		return nil, fmt.Errorf("%s is not a JSON object", ManifestName)
	}
	return rawjson.Normal(doc), nil
}

// Formats that CLI-1803, CLI-1804 and CLI-1506 require.
var (
	nameForm   = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)
	serverForm = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9.-]*[A-Za-z0-9]/[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]$`)
	emailForm  = lazyregexp.New(`^(?i)([a-z0-9_'+-]+(\.[a-z0-9_'+-]+)*)@([a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$`)
)

// IsName reports whether a text is a valid name of a bundle.
func IsName(text string) bool { return nameForm.MatchString(text) }

// IsServerName reports whether a text is a valid name of a server in the MCP registry.
func IsServerName(text string) bool { return serverForm.MatchString(text) && len(text) <= 200 }

// CheckManifest returns the faults for which the official tool would reject a manifest.
func CheckManifest(doc json.RawMessage) []Fault {
	version := cmp.Or(rawjson.TextOf(doc, "manifest_version"), rawjson.TextOf(doc, "dxt_version"))
	compiled, ok := schemas[version]
	if !ok {
		return []Fault{{"manifest_version", fmt.Sprintf("%q is not known; use one of %s", version,
			strings.Join(Versions, ", "))}}
	}
	s, err := compiled()
	if err != nil {
		return []Fault{{"manifest_version", err.Error()}}
	}
	var faults []Fault
	for _, v := range s.Check(doc) {
		at := strings.ReplaceAll(strings.Trim(v.Path, "/"), "/", ".")
		faults = append(faults, Fault{at, v.Message})
	}
	return append(faults, formatFaults(doc)...)
}

// formatFaults returns the faults of values whose format the schemas do not check.
func formatFaults(doc json.RawMessage) (faults []Fault) {
	at := func(path, text, reason string, ok func(string) bool) {
		if text != "" && !ok(text) {
			faults = append(faults, Fault{path, fmt.Sprintf("%q is %s", text, reason)})
		}
	}
	notURL := "not a URL; it must begin with a scheme, as in https://example.com/"
	for _, name := range []string{"homepage", "documentation", "support"} {
		at(name, rawjson.TextOf(doc, name), notURL, IsURL)
	}
	for i, v := range slices.Collect(rawjson.Elements(rawjson.Get(doc, "privacy_policies"))) {
		text, _ := rawjson.Text(v)
		at(fmt.Sprintf("privacy_policies.%d", i), text, notURL, IsURL)
	}
	author := rawjson.Get(doc, "author")
	at("author.url", rawjson.TextOf(author, "url"), notURL, IsURL)
	at("author.email", rawjson.TextOf(author, "email"), "not an e-mail address", IsEmail)
	at("repository.url", rawjson.TextOf(rawjson.Get(doc, "repository"), "url"), notURL, IsURL)
	return faults
}

// IsURL reports whether a text is an absolute URL.
func IsURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme != "" && (u.Host != "" || u.Opaque != "") && weburl.CheckPort(u) == nil &&
		!strings.ContainsAny(text, " \t\r\n")
}

// IsEmail reports whether a text is an e-mail address.
func IsEmail(text string) bool { return emailForm.MatchString(text) }

// CheckFiles returns the faults of the files that a manifest names. Each must be in the bundle, with the same case, and
// programs must be executable.
func CheckFiles(doc json.RawMessage, names *Names) (faults []Fault) {
	check := func(path, name string, isStarted bool) {
		if strings.Contains(name, "://") || strings.HasPrefix(name, "data:") {
			return
		}
		switch f, ok := names.Find(name); {
		case !ok:
			faults = append(faults, Fault{path, fmt.Sprintf("%q is not in the bundle", name)})
		case f.Name != name:
			faults = append(faults, Fault{path, fmt.Sprintf("%q is called %q in the bundle", name, f.Name)})
		case isStarted && !f.Exec && !strings.HasSuffix(name, ".exe"):
			faults = append(faults, Fault{path, fmt.Sprintf("%q is not executable", name)})
		}
	}
	if icon := rawjson.TextOf(doc, "icon"); icon != "" {
		check("icon", icon, false)
	}
	for i, v := range slices.Collect(rawjson.Elements(rawjson.Get(doc, "icons"))) {
		check(fmt.Sprintf("icons.%d.src", i), rawjson.TextOf(v, "src"), false)
	}
	for i, v := range slices.Collect(rawjson.Elements(rawjson.Get(doc, "screenshots"))) {
		text, _ := rawjson.Text(v)
		check(fmt.Sprintf("screenshots.%d", i), text, false)
	}
	server := rawjson.Get(doc, "server")
	isBinary := rawjson.TextOf(server, "type") == "binary"
	if entry := rawjson.TextOf(server, "entry_point"); isBinary || entry != "" {
		check("server.entry_point", entry, isBinary)
	}
	config := rawjson.Get(server, "mcp_config")
	command := func(path string, v json.RawMessage) {
		if name, ok := strings.CutPrefix(rawjson.TextOf(v, "command"), "${__dirname}/"); ok {
			check(path+".command", name, true)
		}
	}
	command("server.mcp_config", config)
	for _, m := range rawjson.Members(rawjson.Get(config, "platform_overrides")) {
		command("server.mcp_config.platform_overrides."+m.Name, m.Value)
	}
	return faults
}

// CheckWindows returns the files that Windows cannot create, if the bundle supports Windows. It does if its manifest
// lists Windows or has no list of platforms.
func CheckWindows(doc json.RawMessage, names *Names) (faults []Fault) {
	if listed, _ := rawjson.Strings(rawjson.Path(doc, "compatibility", "platforms")); listed != nil &&
		!slices.Contains(listed, "win32") {
		return nil
	}
	for _, f := range names.files {
		if reason := windowsFault(f.Name); reason != "" {
			faults = append(faults, Fault{f.Name, reason})
		}
	}
	slices.SortFunc(faults, func(a, b Fault) int { return strings.Compare(a.Path, b.Path) })
	return faults
}

// maxPath and maxPart limit the path of a file in a bundle and each of its parts, in bytes, because macOS cannot unpack
// longer ones. maxWindowsPath is in characters, because Windows limits the path with the target directory to 260.
const (
	maxPath        = 900
	maxPart        = 255
	maxWindowsPath = 200
)

// device matches the names of devices on Windows. Any extension can follow.
var device = lazyregexp.New(`^(?i)(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *$`)

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
		case device.MatchString(stem):
			return "the name of a device on Windows"
		}
	}
	return ""
}

// Names checks which names can be in one directory tree. On macOS and Windows, case and
// Unicode composition make no difference. On every system, a name cannot be both a file and
// a directory. The zero value is ready to use.
type Names struct {
	files map[string]File
	dirs  map[string]string
}

// Add adds another file. It returns an error if its name is invalid or conflicts with another one.
func (n *Names) Add(f File) error {
	name := f.Name
	if err := checkName(name); err != nil {
		return err
	}
	if n.files == nil {
		n.files, n.dirs = make(map[string]File), make(map[string]string)
	}
	folded := fold(name)
	if other, ok := n.files[folded]; ok {
		if other.Name == name {
			return fmt.Errorf("%q: twice", name)
		}
		return fmt.Errorf("%+q and %+q: one name on macOS and Windows, where neither case nor composition makes a difference",
			other.Name, name)
	}
	if dir, ok := n.dirs[folded]; ok {
		return fmt.Errorf("%q: a file, and the directory of %q", name, dir)
	}
	for at := range len(folded) {
		if folded[at] != '/' {
			continue
		}
		if file, ok := n.files[folded[:at]]; ok {
			return fmt.Errorf("%q: a file, and the directory of %q", file.Name, name)
		}
		if _, ok := n.dirs[folded[:at]]; !ok {
			n.dirs[folded[:at]] = name
		}
	}
	n.files[folded] = f
	return nil
}

// Find returns the file with a name, or with a name that macOS and Windows treat as equal.
func (n *Names) Find(name string) (f File, ok bool) {
	f, ok = n.files[fold(name)]
	return f, ok
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
