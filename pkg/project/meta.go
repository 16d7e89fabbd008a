package project

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/scriptenv"
	"mcp-bash/pkg/wire/mcp"
)

// Meta is the metadata of a server, from server.d/server.meta.json and related files (protocol section 2). Missing
// optional texts are "".
type Meta struct {
	Name          string // serverInfo.name, and the authority of ui:// URIs
	Version       string
	Title         string
	Description   string
	WebsiteURL    string
	Icons         json.RawMessage // compact array, or nil
	Instructions  string
	ValidateInput bool
	PageSize      int    // items of a page of a list; 0: the default
	LargeResult   int    // bytes; longer output of tools is stored; 0: never
	ResultSearch  bool   // clients get a tool that searches stored results
	SecurityLevel string // unparsed
	Confine       string // unparsed
	Locked        bool   // the lock limits the server
	// Scopes are the items that each OAuth scope permits; nil: a token needs no scope.
	Scopes auth.Scopes
	// BadScopes is the reason why the scopes cannot be used, or nil. Then no token permits anything,
	// and no server starts that uses them.
	BadScopes error

	// Insecure is the reason why other users could have written the file, or nil. The server ignores such a file. As
	// these users could have removed a restriction, no tool runs (T-8a).
	Insecure *trust.InsecureError
	// Unreadable is the reason why restrictions in the file cannot be read (T-8a). It may be a
	// [*MetaError]. It is nil if the file has no restrictions, or all can be read.
	Unreadable error
}

// A MetaError is the reason why server.meta.json cannot be read, and its place.
type MetaError struct {
	Line, Column int // from 1
	Reason       string
}

func (e *MetaError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", Marker, e.Line, e.Column, e.Reason)
}

// SearchesResults reports whether clients get the tool that searches stored results.
func (p *Project) SearchesResults() bool {
	if p.Calls.LargeSearch != "" {
		return p.Calls.LargeSearch == "true"
	}
	return p.Meta.ResultSearch
}

// Items of a page of a list, if the request has no limit.
const (
	defaultPage = 50
	MaxPage     = 200
)

// PageSize returns the number of items of a page of a list, if the request has no limit.
func (p *Project) PageSize() int {
	return min(cmp.Or(p.Limits.Page, p.Meta.PageSize, defaultPage), MaxPage)
}

// readMeta reports faults in the file and omits the faulty parts. It does not compare the settings for the
// environment of scripts with the environment.
func readMeta(p *Project, warn func(string)) (m Meta, scripts scriptenv.Meta) {
	base := filepath.Base(p.Root)
	m = Meta{Name: base, Title: Title(base)}
	ignore := func(name string, reason any) { warn(fmt.Sprintf("mcp-bash: ignoring %s: %s", name, reason)) }
	complain := func(reason string) { ignore(Marker, reason) }
	var placed *MetaError
	file, err := p.ReadSetting(code.ServerMeta.In(p), maxMetaFile)
	var doc json.RawMessage
	read := err == nil
	if read {
		scripts = scriptenv.ReadMeta(file)
		doc, err = parseMeta(file)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		if errors.As(err, &placed) {
			complain(fmt.Sprintf("line %d, column %d: %s", placed.Line, placed.Column, placed.Reason))
		} else {
			complain(err.Error())
		}
		if !errors.As(err, &m.Insecure) && (!read || mayRestrict(file)) {
			m.Unreadable = err
			if placed == nil {
				m.Unreadable = fmt.Errorf("%s: %w", Marker, err)
			}
		}
	default:
		if m.Unreadable = checkRestrictions(file, doc); m.Unreadable != nil {
			warn("mcp-bash: " + m.Unreadable.Error() + "; no tool runs until it is corrected")
		}
	}
	text := func(name string, field *string) {
		switch v := rawjson.Get(doc, name); rawjson.KindOf(v) {
		case rawjson.Invalid, rawjson.Null:
		case rawjson.String:
			if s, _ := rawjson.Text(v); s != "" {
				*field = s
			}
		case rawjson.Number:
			*field = string(v)
		default:
			complain(fmt.Sprintf("%s must be a string", name))
		}
	}
	text("name", &m.Name)
	text("version", &m.Version)
	text("title", &m.Title)
	text("description", &m.Description)
	text("websiteUrl", &m.WebsiteURL)
	// A restriction of a wrong type stays a restriction, with an unknown value.
	for name, field := range map[string]*string{"securityLevel": &m.SecurityLevel, "confine": &m.Confine} {
		if v := rawjson.Get(doc, name); !rawjson.Absent(v) {
			var ok bool
			if *field, ok = rawjson.Text(v); !ok {
				*field = string(v)
			}
		}
	}
	flag := func(name string, field *bool) {
		switch v := rawjson.Get(doc, name); rawjson.KindOf(v) {
		case rawjson.Invalid, rawjson.Null:
		case rawjson.Bool:
			*field = rawjson.True(v)
		default:
			complain(name + " must be a boolean")
		}
	}
	flag("validateInput", &m.ValidateInput)
	if v := rawjson.Get(doc, "locked"); !rawjson.Absent(v) {
		m.Locked = string(v) != "false" // a wrong type stays a restriction
	}
	if v := rawjson.Get(doc, "largeResultBytes"); !rawjson.Absent(v) {
		if m.LargeResult = rawjson.PositiveInt(v); m.LargeResult == 0 && string(v) != "0" {
			complain("largeResultBytes must be a whole number")
		}
	}
	flag("largeResultSearch", &m.ResultSearch)
	if v := rawjson.Get(doc, "pageSize"); !rawjson.Absent(v) {
		if m.PageSize = rawjson.PositiveInt(v); m.PageSize == 0 {
			complain("pageSize must be a whole number above 0")
		}
	}
	if v := rawjson.Get(doc, "scopes"); v != nil {
		if m.Scopes, err = readScopes(v); err != nil {
			m.Scopes, m.BadScopes = auth.Scopes{}, fmt.Errorf("%s: scopes: %w", Marker, err)
		}
	}
	if v := rawjson.Get(doc, "icons"); rawjson.KindOf(v) == rawjson.Array {
		m.Icons = p.InlineIcons(v, []string{p.Server, p.Root}, nil, warn)
	} else if !rawjson.Absent(v) {
		complain("icons must be an array")
	}
	if m.Version == "" {
		m.Version = p.defaultVersion(ignore)
	}
	m.Instructions = p.readInstructions(ignore)
	return m, scripts
}

// Locked reports whether the lock of the project limits the server.
func (p *Project) Locked() bool {
	switch strings.ToLower(p.Env["MCPBASH_LOCKED"]) {
	case "", "0", "false", "no", "off":
		return p.Meta.Locked
	}
	return true
}

// restrictions are the members that restrict tools.
var restrictions = []string{"securityLevel", "confine", "scopes", "locked"}

// mayRestrict reports whether an invalid JSON text, in UTF-8 or UTF-16, may contain a restriction.
func mayRestrict(text []byte) bool {
	lower := bytes.ToLower(bytes.ReplaceAll(text, []byte{0}, nil))
	return bytes.Contains(lower, []byte(`\u`)) || slices.ContainsFunc(restrictions, func(name string) bool {
		return bytes.Contains(lower, bytes.ToLower([]byte(name)))
	})
}

// checkRestrictions returns an error for a restriction that appears twice, or has a mistyped name.
func checkRestrictions(text []byte, doc json.RawMessage) (err error) {
	given := map[string]bool{}
	rawjson.Each(doc, func(quoted, _ json.RawMessage) {
		name, _ := rawjson.Text(quoted)
		fault := ""
		for _, meant := range restrictions {
			switch {
			case name == meant && given[name]:
				fault = "is given twice"
			case name != meant && cli.Resembles(name, meant):
				fault = "is not known; did you mean " + meant + "?"
			}
		}
		given[name] = true
		if fault != "" && err == nil {
			line, column, _ := rawjson.Position(text, quoted)
			err = &MetaError{line, column, fmt.Sprintf("%q %s", name, fault)}
		}
	})
	return err
}

func parseMeta(text []byte) (json.RawMessage, error) {
	doc, err := rawjson.Check(text)
	if syntax, ok := errors.AsType[*rawjson.SyntaxError](err); ok {
		line, column := syntax.Position(text)
		return nil, &MetaError{line, column, syntax.Reason}
	}
	if err != nil {
		return nil, err
	}
	if rawjson.KindOf(doc) != rawjson.Object {
		return nil, errors.New("not a JSON object")
	}
	return doc, nil
}

// readRelated reads a file that belongs to the metadata. It returns nil if the file is missing.
func (p *Project) readRelated(path, name string, ignore func(name string, reason any)) []byte {
	text, err := p.ReadFile(path, maxMetaFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		ignore(name, err)
	}
	return bytes.TrimPrefix(text, rawjson.ByteOrderMark)
}

// defaultVersion returns the version of a project if its metadata omits it. The version comes from VERSION or
// package.json, or is 0.0.0.
func (p *Project) defaultVersion(ignore func(name string, reason any)) string {
	text := p.readRelated(filepath.Join(p.Root, "VERSION"), "VERSION", ignore)
	if v := strings.Join(strings.Fields(string(bytes.ToValidUTF8(text, nil))), ""); v != "" {
		return v
	}
	if doc, err := rawjson.Check(p.readRelated(filepath.Join(p.Root, "package.json"), "package.json",
		ignore)); err == nil {
		if v := rawjson.TextOf(doc, "version"); v != "" {
			return v
		}
	}
	return "0.0.0"
}

// readInstructions returns the instructions for models from server.instructions.md, or "".
func (p *Project) readInstructions(ignore func(name string, reason any)) string {
	text := p.readRelated(filepath.Join(p.Server, "server.instructions.md"), "server.d/server.instructions.md", ignore)
	return strings.TrimRight(string(bytes.ToValidUTF8(text, []byte("\uFFFD"))), "\r\n")
}

// Title returns a title for a name, such as "My Cool Server" for "my-cool_server".
func Title(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || unicode.IsSpace(r) })
	for i, w := range words {
		r, size := utf8.DecodeRuneInString(w)
		words[i] = string(unicode.ToUpper(r)) + w[size:]
	}
	return strings.Join(words, " ")
}

// FileName returns a name without the characters that file names should not have.
func FileName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z', r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
}

// RequestKey returns the name of a request in files. It depends on the raw text of its JSON-RPC id.
func RequestKey(id string) string {
	key := base64.RawURLEncoding.EncodeToString([]byte(id))
	if len(key) > 200 {
		sum := sha256.Sum256([]byte(id))
		return hex.EncodeToString(sum[:])
	}
	return key
}

// processTag returns "<parent>.<process>.<random>", which makes a name unique and identifies its process.
func processTag() string {
	return strconv.Itoa(os.Getppid()) + "." + strconv.Itoa(os.Getpid()) + "." + randomTag()
}

func randomTag() string {
	var b [6]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Permit returns an error if a caller may not use an item. shown is the item as the client named it, which need not
// exist.
func (p *Project) Permit(caller *auth.Identity, kind auth.ItemKind, name, shown string) error {
	need, ok := caller.Permits(kind, name, p.Meta.Scopes)
	if ok {
		return nil
	}
	e := mcp.Errorf(mcp.CodeInvalidParams, "%s '%s' blocked by policy (not permitted to this client)", kind,
		shown).Because(mcp.CauseScope)
	if e.NeedsScope = need; need != "" {
		return e.Explain(fmt.Errorf("the token needs the scope %q", need))
	}
	return e
}

// maxScopes is the maximum number of scopes that server.meta.json can map to items.
const maxScopes = 256

// readScopes reads the items that each OAuth scope permits. The result is not nil.
func readScopes(v json.RawMessage) (auth.Scopes, error) {
	if rawjson.KindOf(v) != rawjson.Object {
		return nil, errors.New("it must be an object that maps each scope to a list of tools, or to an object of lists")
	}
	scopes := auth.Scopes{}
	for scope, value := range rawjson.All(v) {
		_, twice := scopes[scope]
		switch {
		case !auth.IsScope(scope):
			return nil, fmt.Errorf("%q is not a scope of OAuth", scope)
		case twice:
			return nil, fmt.Errorf("the scope %q is given twice", scope)
		case len(scopes) == maxScopes:
			return nil, fmt.Errorf("there are more than %d scopes", maxScopes)
		}
		rights, err := readRights(scope, value)
		if err != nil {
			return nil, err
		}
		scopes[scope] = rights
	}
	return scopes, nil
}

// readRights reads the lists of a scope. A list alone names tools.
func readRights(scope string, v json.RawMessage) (rights auth.Rights, err error) {
	if rawjson.KindOf(v) != rawjson.Object {
		rights.Tools, err = readNames(scope, "tools", v)
		return rights, err
	}
	seen := map[string]bool{}
	for member, list := range rawjson.All(v) {
		of := map[string]*[]string{
			"tools": &rights.Tools, "resources": &rights.Resources, "prompts": &rights.Prompts,
		}[member]
		switch {
		case of == nil:
			return rights, fmt.Errorf("%q of %q is none of tools, resources and prompts", member, scope)
		case seen[member]:
			return rights, fmt.Errorf("the %s of %q are given twice", member, scope)
		}
		seen[member] = true
		if *of, err = readNames(scope, member, list); err != nil {
			return rights, err
		}
	}
	return rights, nil
}

func readNames(scope, member string, v json.RawMessage) ([]string, error) {
	if names, ok := rawjson.Strings(v); ok && !rawjson.Absent(v) {
		return names, nil
	}
	return nil, fmt.Errorf("the %s of %q must be a list of names", member, scope)
}
