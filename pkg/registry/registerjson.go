package registry

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

// Declarations are what server.d/register.json says (registry section 14).
type declarations struct {
	kinds   map[string]*manual // the kinds it lists; the others are left to discovery
	exclude []string           // ids and names of tools
}

// excluded returns the ids and names that are left out of a kind.
func (d *declarations) excluded(k *Kind) []string {
	if d == nil || k != Tools {
		return nil
	}
	return d.exclude
}

// A declared reads register.json, once for all the kinds that are looked at
// together: they go by the same text. What it says stays the same object as long
// as the text does.
type declared struct {
	p      *project.Project
	mu     sync.Mutex
	number int64 // of the check that it was read for last
	said   *declarations
	err    error
	sum    [sha256.Size]byte // of the text that could be used last
	last   *declarations     // what it says
}

func newDeclared(p *project.Project) *declared { return &declared{p: p} }

// A declaredFault makes all kinds unavailable.
type declaredFault struct {
	text     string
	insecure bool // the file is not believed, whatever it says
}

func (e *declaredFault) Error() string { return e.text }

func faultf(format string, args ...any) *declaredFault {
	return &declaredFault{text: fmt.Sprintf("Declarative register.json "+format, args...)}
}

// read returns what is said now, in the number-th check, or was in one after the
// asked-th; nil when there is no file. The error is a [*declaredFault].
func (d *declared) read(asked, number int64) (*declarations, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.number <= asked {
		d.said, d.err = d.readNow()
		d.number = number
	}
	return d.said, d.err
}

func (d *declared) readNow() (*declarations, error) {
	text, err := readDeclared(d.p)
	if text == nil || err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	if d.last == nil || sum != d.sum {
		said, err := parseDeclarations(text)
		if err != nil {
			return nil, err
		}
		d.sum, d.last = sum, said
	}
	return d.last, nil
}

// readDeclared returns the text of register.json, nil when there is none. The
// error is a [*declaredFault].
func readDeclared(p *project.Project) ([]byte, error) {
	file := filepath.Join(p.Server, jsonFile)
	if _, err := os.Lstat(file); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var insecure *project.InsecureError
	if err := p.CheckTrusted(file); errors.As(err, &insecure) {
		fault := faultf("permissions/ownership invalid: %s", insecure)
		fault.insecure = true
		return nil, fault
	}
	text, _, err := readPlain(file, p.Discovery.MaxManual)
	switch {
	case errors.Is(err, errTooLarge):
		return nil, faultf("exceeded %d bytes", p.Discovery.MaxManual)
	case err != nil:
		return nil, &declaredFault{text: "Unable to read declarative register.json"}
	}
	return text, nil
}

// parseDeclarations reads a text. The error is for all kinds; what is wrong with
// one kind is a matter of that kind.
func parseDeclarations(text []byte) (*declarations, error) {
	if bytes.HasPrefix(text, utf8BOM) {
		return nil, faultf("has a UTF-8 BOM; save as UTF-8 without BOM")
	}
	doc, err := checkJSON(text, maxNesting)
	if err != nil {
		return nil, faultf("parsing/validation failed: %s", err)
	}
	d, fault := topLevel(doc)
	if fault != "" {
		return nil, faultf("parsing/validation failed: register.json %s", fault)
	}
	for _, m := range d.kinds {
		m.text = text
	}
	return d, nil
}

// mergeable are the kinds that merge may name.
var mergeable = []string{"tools", "resources", "prompts"}

// topLevel reads all but the entries.
func topLevel(doc json.RawMessage) (d *declarations, fault string) {
	if rawjson.KindOf(doc) != rawjson.Object {
		return nil, "must be a JSON object"
	}
	version := rawjson.Get(doc, "version")
	if rawjson.KindOf(version) != rawjson.Number {
		return nil, "version must be a number"
	}
	if n, err := strconv.ParseFloat(string(version), 64); err != nil || n != 1 {
		return nil, "version must be 1"
	}
	d = &declarations{kinds: make(map[string]*manual)}
	allowed := []string{"version", "merge", "exclude", "_meta"}
	for kind := range manualKinds {
		allowed = append(allowed, kind.Key)
	}
	var unknown []string
	for _, m := range rawjson.Members(doc) {
		if !slices.Contains(allowed, m.Name) {
			unknown = append(unknown, m.Name+cli.DidYouMean(m.Name, allowed))
		}
	}
	if unknown != nil {
		return nil, "unknown keys: " + strings.Join(unknown, ",")
	}
	if v := rawjson.Get(doc, "_meta"); !rawjson.Absent(v) && rawjson.KindOf(v) != rawjson.Object {
		return nil, "_meta must be an object"
	}
	for kind := range manualKinds {
		v := rawjson.Get(doc, kind.Key)
		if rawjson.Absent(v) {
			continue
		}
		if rawjson.KindOf(v) != rawjson.Array {
			fault := faultf("parsing/validation failed: register.json %s must be an array or null", kind.Key)
			d.kinds[kind.Key] = &manual{origin: jsonFile, fault: fault}
			continue
		}
		m := &manual{origin: jsonFile, entries: slices.Collect(rawjson.Elements(v)), extras: true}
		m.merge = kind.lays && len(m.entries) > 0
		d.kinds[kind.Key] = m
	}
	merge, ok := rawjson.Strings(rawjson.Get(doc, "merge"))
	if !ok || slices.ContainsFunc(merge, func(key string) bool { return !slices.Contains(mergeable, key) }) {
		return nil, "merge must be an array of " + strings.Join(mergeable, ", ")
	}
	for _, key := range merge {
		if m := d.kinds[key]; m != nil {
			m.merge = true
		}
	}
	if d.exclude, ok = rawjson.Strings(rawjson.Get(doc, "exclude")); !ok {
		return nil, "exclude must be an array of strings"
	}
	return d, ""
}
