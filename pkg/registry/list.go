package registry

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/wire/mcp"
)

// A List contains the items of one kind. It is immutable. A [Catalog] returns the same List
// until the content changes, so its address can be the key of a cache.
type List struct {
	Kind  *kinds.Kind
	Items []item.Item // in the order of R-39, or of register.json
	Hash  string

	Withheld []Withheld // items that are not offered, and not in Items
	whole    *List      // the list with the withheld items; nil if no item is withheld

	once   sync.Once
	byName map[string]int32
}

// Find returns the first item with a name.
func (l *List) Find(name string) (entry item.Item, ok bool) {
	l.once.Do(func() {
		l.byName = make(map[string]int32, len(l.Items))
		for i := len(l.Items) - 1; i >= 0; i-- {
			l.byName[l.Items[i].Name] = int32(i)
		}
	})
	at, ok := l.byName[name]
	if !ok || name == "" {
		return item.Item{}, false
	}
	return l.Items[at], true
}

// Hashes returns a hash of each item by its name.
func (l *List) Hashes() map[string][sha256.Size]byte {
	hashes := make(map[string][sha256.Size]byte, len(l.Items))
	for i := range l.Items {
		hashes[l.Items[i].Name] = sha256.Sum256(l.Items[i].JSON)
	}
	return hashes
}

// JSON returns the JSON of all items.
func (l *List) JSON() []json.RawMessage {
	list := make([]json.RawMessage, len(l.Items))
	for i := range l.Items {
		list[i] = l.Items[i].JSON
	}
	return list
}

// A Withheld item is part of the project, and not offered.
type Withheld struct {
	item.Item
	Reason error
}

// A WithheldError is the error for the use of a withheld item.
type WithheldError struct{ answer *mcp.Error }

func (e *WithheldError) Error() string { return e.answer.Error() }

// Unwrap returns the error for the client.
func (e *WithheldError) Unwrap() error { return e.answer }

// Refusal returns the error for the use of the item.
func (w *Withheld) Refusal(kind *kinds.Kind) error {
	reason := w.Reason
	if remedied, ok := errors.AsType[interface {
		error
		Remedy() string
	}](reason); ok {
		reason = fmt.Errorf("%w; %s", reason, remedied.Remedy())
	}
	return &WithheldError{mcp.Errorf(mcp.CodeInvalidParams, "The %s '%s' is not offered", kind.Noun, w.Name).
		Explain(reason).Because(mcp.CauseLocked)}
}

// without returns the list without some of its items. If nothing has changed, it returns the list of the last check.
func (l *List) without(reasons map[string]error, last *outcome) *List {
	if len(reasons) == 0 {
		return l
	}
	less := &List{Kind: l.Kind, whole: l}
	for _, i := range l.Items {
		if reason := reasons[i.Name]; reason != nil {
			less.Withheld = append(less.Withheld, Withheld{i, reason})
		} else {
			less.Items = append(less.Items, i)
		}
	}
	if last != nil && last.list != nil && last.list.whole == l && slices.EqualFunc(last.list.Withheld, less.Withheld,
		func(a, b Withheld) bool { return a.Name == b.Name && a.Reason == b.Reason }) {
		return last.list
	}
	less.Hash = hashOf(less.JSON())
	return less
}

// CachedNames returns the names in the registry file of a kind, for shell completion. The
// project is the one that contains the working directory. The result is nil after an
// error.
func CachedNames(kind *kinds.Kind) (names []string) {
	p, err := project.Find("", func(string) {})
	if err != nil {
		return nil
	}
	list, err := NewCatalog(p, Options{ReadOnly: true}).File(kind)
	if err != nil {
		return nil
	}
	for _, item := range list.Items {
		if item.Name != "" {
			names = append(names, item.Name)
		}
	}
	return names
}

// DiscoveredSource is the source of a discovered tool.
const DiscoveredSource = "discovered"

// A SourcedTool is a tool of a project with its source.
type SourcedTool struct {
	item.Candidate
	Source string // DiscoveredSource, declare.JSONFile or declare.HookFile
}

// sourced returns the tools of a list with their sources. declared are the declared tools,
// or nil.
func sourced(list *List, declared *declare.Built) []SourcedTool {
	isDeclared := make(map[string]bool)
	if declared != nil {
		for _, f := range declared.Found {
			isDeclared[f.Name] = true
		}
	}
	all := make([]SourcedTool, len(list.Items))
	for i, entry := range list.Items {
		all[i] = SourcedTool{item.CandidateOf(entry.JSON), DiscoveredSource}
		if isDeclared[entry.Name] {
			all[i].Source = declared.From.Origin
		}
	}
	return all
}

// SourcedTools checks the project and returns all its tools.
func (c *Catalog) SourcedTools(ctx context.Context) ([]SourcedTool, error) {
	s := c.state(kinds.Tools)
	if _, err := c.list(ctx, s, true); err != nil {
		return nil, err
	}
	if err := s.mutex.Lock(ctx); err != nil {
		return nil, err
	}
	defer s.mutex.Unlock()
	o := s.last.Load()
	if o.err != nil {
		return nil, o.err
	}
	var declared *declare.Built
	if o.list == s.built { // false in static mode: the list is from the registry file
		declared = s.inputs.declared
	}
	return sourced(o.list, declared), nil
}

// PreviewTools returns the tools that the project would have with another register.json. A
// nil doc means no file. PreviewTools writes nothing.
func (c *Catalog) PreviewTools(ctx context.Context, doc *declare.Document) ([]SourcedTool, error) {
	s := c.state(kinds.Tools)
	if err := s.mutex.Lock(ctx); err != nil {
		return nil, err
	}
	defer s.mutex.Unlock()
	from := origin{document: doc}
	if doc != nil {
		from.declared = doc.Lists[kinds.Tools.Key]
	}
	from.discover = from.declared == nil || from.declared.Merge
	list, err := c.build(ctx, s, request{}, from)
	if err != nil {
		return nil, err
	}
	return sourced(list, s.inputs.declared), nil
}
