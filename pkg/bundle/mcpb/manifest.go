package mcpb

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/schema"
	"mcp-bash/pkg/text/lazyregexp"
	"mcp-bash/pkg/text/weburl"
)

//go:embed schema/*.json
var published embed.FS

// Versions are the supported manifest versions, the default first (CLI-1430).
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

// IsName reports whether a text is a valid name of a bundle (CLI-1803).
func IsName(text string) bool { return nameForm.MatchString(text) }

// IsServerName reports whether a text is a valid name of a server in the MCP registry.
func IsServerName(text string) bool { return serverForm.MatchString(text) && len(text) <= 200 }

// CheckManifest returns the faults for which the official tool would reject a manifest
// (CLI-1802 to CLI-1804).
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
	i := 0
	for v := range rawjson.Elements(rawjson.Get(doc, "privacy_policies")) {
		text, _ := rawjson.Text(v)
		at(fmt.Sprintf("privacy_policies.%d", i), text, notURL, IsURL)
		i++
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
