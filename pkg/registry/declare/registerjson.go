package declare

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
	"mcp-bash/pkg/registry/folder"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
)

// Declarations are what server.d/register.json says (registry section 14).
type Document struct {
	Lists   map[string]*List // the kinds it lists; the others are left to discovery
	Exclude []string         // ids and names of tools
}

// Excluded returns the ids and names that are left out of a kind.
func (d *Document) Excluded(k *kinds.Kind) []string {
	if d == nil || k != kinds.Tools {
		return nil
	}
	return d.Exclude
}

// A Reader reads register.json, once for all the kinds that are looked at
// together: they go by the same text. What it says stays the same object as long
// as the text does.
type Reader struct {
	project *project.Project
	mu      sync.Mutex
	number  int64 // of the check that it was read for last
	doc     *Document
	err     error
	sum     [sha256.Size]byte // of the text that could be used last
	last    *Document         // what it says
}

func NewReader(p *project.Project) *Reader { return &Reader{project: p} }

// A Fault makes all kinds unavailable.
type Fault struct {
	Text     string
	Insecure bool // the file is not believed, whatever it says
}

func (e *Fault) Error() string { return e.Text }

func Faultf(format string, args ...any) *Fault {
	return &Fault{Text: fmt.Sprintf("Declarative register.json "+format, args...)}
}

// Read returns what is said now, in the number-th check, or was in one after the
// asked-th; nil when there is no file. The error is a [*declaredFault].
func (d *Reader) Read(asked, number int64) (*Document, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.number <= asked {
		d.doc, d.err = d.readNow()
		d.number = number
	}
	return d.doc, d.err
}

func (d *Reader) readNow() (*Document, error) {
	text, err := ReadFile(d.project)
	if text == nil || err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	if d.last == nil || sum != d.sum {
		said, err := Parse(text)
		if err != nil {
			return nil, err
		}
		d.sum, d.last = sum, said
	}
	return d.last, nil
}

// ReadFile returns the text of register.json, nil when there is none. The
// error is a [*declaredFault].
func ReadFile(p *project.Project) ([]byte, error) {
	file := filepath.Join(p.Server, JSONFile)
	if _, err := os.Lstat(file); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var insecure *project.InsecureError
	if err := p.CheckTrusted(file); errors.As(err, &insecure) {
		fault := Faultf("permissions/ownership invalid: %s", insecure)
		fault.Insecure = true
		return nil, fault
	}
	text, _, err := folder.ReadFile(file, p.Discovery.MaxManual)
	switch {
	case errors.Is(err, folder.ErrTooLarge):
		return nil, Faultf("exceeded %d bytes", p.Discovery.MaxManual)
	case err != nil:
		return nil, &Fault{Text: "Unable to read declarative register.json"}
	}
	return text, nil
}

// Parse reads a text. The error is for all kinds; what is wrong with
// one kind is a matter of that kind.
func Parse(text []byte) (*Document, error) {
	if bytes.HasPrefix(text, item.ByteOrderMark) {
		return nil, Faultf("has a UTF-8 BOM; save as UTF-8 without BOM")
	}
	doc, err := item.CheckJSON(text, item.MaxNesting)
	if err != nil {
		return nil, Faultf("parsing/validation failed: %s", err)
	}
	d, fault := topLevel(doc)
	if fault != "" {
		return nil, Faultf("parsing/validation failed: register.json %s", fault)
	}
	for _, m := range d.Lists {
		m.text = text
	}
	return d, nil
}

// mergeable are the kinds that merge may name.
var mergeable = []string{"tools", "resources", "prompts"}

// topLevel reads all but the entries.
func topLevel(doc json.RawMessage) (d *Document, fault string) {
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
	d = &Document{Lists: make(map[string]*List)}
	allowed := []string{"version", "merge", "exclude", "_meta"}
	for kind := range declarable {
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
	for kind := range declarable {
		v := rawjson.Get(doc, kind.Key)
		if rawjson.Absent(v) {
			continue
		}
		if rawjson.KindOf(v) != rawjson.Array {
			fault := Faultf("parsing/validation failed: register.json %s must be an array or null", kind.Key)
			d.Lists[kind.Key] = &List{Origin: JSONFile, Err: fault}
			continue
		}
		m := &List{Origin: JSONFile, entries: slices.Collect(rawjson.Elements(v)), extras: true}
		m.Merge = kind.Overlays && len(m.entries) > 0
		d.Lists[kind.Key] = m
	}
	merge, ok := rawjson.Strings(rawjson.Get(doc, "merge"))
	if !ok || slices.ContainsFunc(merge, func(key string) bool { return !slices.Contains(mergeable, key) }) {
		return nil, "merge must be an array of " + strings.Join(mergeable, ", ")
	}
	for _, key := range merge {
		if m := d.Lists[key]; m != nil {
			m.Merge = true
		}
	}
	if d.Exclude, ok = rawjson.Strings(rawjson.Get(doc, "exclude")); !ok {
		return nil, "exclude must be an array of strings"
	}
	return d, ""
}
