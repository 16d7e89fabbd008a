package project

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"mcp-bash/pkg/rawjson"
)

// Meta is what server.d/server.meta.json and the files beside it say of the
// server (protocol section 2). Optional texts are "" when absent.
type Meta struct {
	Name          string // serverInfo.name, and the authority of ui:// URIs (registry R-44)
	Version       string
	Title         string
	Description   string
	WebsiteURL    string
	Icons         json.RawMessage // compact array, nil when there are none
	Instructions  string
	ValidateInput bool
	SecurityLevel string // as given
}

// readMeta never fails: what cannot be used is reported and left out.
func readMeta(p *Project, warn func(string)) Meta {
	base := filepath.Base(p.Root)
	m := Meta{Name: base, Title: Title(base)}
	complain := func(reason string) {
		warn("mcp-bash: ignoring server.d/server.meta.json: " + reason)
	}
	doc, err := readMetaFile(filepath.Join(p.Server, "server.meta.json"))
	if err != nil {
		complain(err.Error())
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
	if v := rawjson.Get(doc, "securityLevel"); !rawjson.Absent(v) {
		var ok bool
		if m.SecurityLevel, ok = rawjson.Text(v); !ok {
			m.SecurityLevel = string(v) // nobody knows it: a restriction must not become none (registry R-212)
		}
	}
	switch v := rawjson.Get(doc, "validateInput"); rawjson.KindOf(v) {
	case rawjson.Invalid, rawjson.Null:
	case rawjson.Bool:
		m.ValidateInput = rawjson.True(v)
	default:
		complain("validateInput must be a boolean")
	}
	if v := rawjson.Get(doc, "icons"); rawjson.KindOf(v) == rawjson.Array {
		m.Icons = InlineIcons(v, p.Root, []string{p.Server, p.Root}, nil, warn)
	} else if !rawjson.Absent(v) {
		complain("icons must be an array")
	}
	if m.Version == "" {
		m.Version = defaultVersion(p.Root)
	}
	m.Instructions = readInstructions(filepath.Join(p.Server, "server.instructions.md"))
	return m
}

// readMetaFile returns nil for a file that does not exist.
func readMetaFile(file string) (json.RawMessage, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	doc, err := rawjson.Check(text)
	var syntax *rawjson.SyntaxError
	if errors.As(err, &syntax) {
		line, column := syntax.Position(text)
		return nil, fmt.Errorf("line %d, column %d: %s", line, column, syntax.Reason)
	}
	if err != nil {
		return nil, err
	}
	if rawjson.KindOf(doc) != rawjson.Object {
		return nil, errors.New("not a JSON object")
	}
	return doc, nil
}

// defaultVersion is P-202.
func defaultVersion(root string) string {
	if text, err := os.ReadFile(filepath.Join(root, "VERSION")); err == nil {
		if v := strings.Map(dropSpace, string(bytes.ToValidUTF8(text, nil))); v != "" {
			return v
		}
	}
	if text, err := os.ReadFile(filepath.Join(root, "package.json")); err == nil {
		if doc, err := rawjson.Check(text); err == nil {
			if v := rawjson.TextOf(doc, "version"); v != "" {
				return v
			}
		}
	}
	return "0.0.0"
}

func dropSpace(r rune) rune {
	if unicode.IsSpace(r) {
		return -1
	}
	return r
}

// readInstructions is P-204.
func readInstructions(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(bytes.ToValidUTF8(text, []byte("\uFFFD"))), "\r\n")
}
