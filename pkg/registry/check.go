package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/internal/scan"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/wire/mcp"
)

// A lastCheck contains the results of the last check of a kind, which the next one reuses.
type lastCheck struct {
	scan      *scan.Result
	declared  *declare.Built
	inputs    inputs // of the list built
	built     *List
	messages  []item.Message // about the list built
	dropped   []string       // the reason for each declared entry that was left out
	list      *List          // the last list of a successful check, or nil
	static    *List          // static mode: the list in the registry file
	file      fileVersion    // the registry file when it was last read or written
	unsaved   *List          // a list that could not be written
	firstHash string         // of the valid registry file before the first check, or ""

	// mergedInto is the hash of the registry file that a partial scan was merged into, ""
	// for no file. It is nil after a complete scan.
	mergedInto *string
}

func (c *Catalog) check(ctx context.Context, s *state, r request) (*List, error) {
	s.dropped = nil
	from, err := c.origin(ctx, s, r)
	if err != nil {
		return nil, c.failure(ctx, s, r, from, err)
	}
	if from.static != nil {
		s.firstHash = from.static.Hash
		return from.static, nil
	}
	var list *List
	for err = errOvertaken; errors.Is(err, errOvertaken); {
		if list, err = c.build(ctx, s, r, from); err == nil {
			err = c.persist(ctx, s, r, list)
		}
	}
	if err != nil {
		return nil, c.failure(ctx, s, r, from, err)
	}
	if len(list.Items) > manyItems && s.kind.Plural != "" && (s.list == nil || s.list.Hash != list.Hash) {
		c.log(mcp.Warning, s.kind.Logger, fmt.Sprintf(
			"%s registry contains %d entries; consider manual registration", s.kind.Plural, len(list.Items)))
	}
	c.messages.reportFound(s.kind.Key, s.kind.Logger, s.messages)
	if s.inputs.declared != nil {
		s.dropped = s.inputs.declared.Dropped
	}
	s.list = list
	return list, nil
}

// manyItems is the maximum number of items of a kind without a warning.
const manyItems = 500

// failure logs an error of a check and returns it as a [*Failure].
func (c *Catalog) failure(ctx context.Context, s *state, r request, from origin, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f := &Failure{Kind: s.kind, Reason: err.Error(), Err: err}
	level := mcp.Err
	var declared *declare.Fault
	var locked *atomicfile.LockedError
	var unwritable *atomicfile.UnwritableError
	var limit limitError
	switch {
	case errors.As(err, &declared):
		level = s.kind.FaultLevel
	case errors.As(err, &locked):
		f.Fatal = true
		if c.o.Warn != nil && !r.locked {
			c.o.Warn("mcp-bash: " + f.Reason)
		}
	case errors.As(err, &unwritable):
		f.Fatal = true
		f.Reason = fmt.Sprintf("Registry directory is not writable: %s: %s", c.store.dir, err)
	}
	messages := []item.Message{{Level: level, Topic: item.Unavailable, Text: f.Reason}}
	byJSON := from.declared != nil && from.declared.Origin == declare.JSONFile
	if byJSON && (locked != nil || errors.As(err, &limit)) {
		f.Reason = declare.Faultf("apply failed for %s", s.kind.Key).Text
		messages = append(messages, item.Message{Level: s.kind.FaultLevel, Topic: item.Unavailable, Text: f.Reason})
	}
	c.messages.report(s.kind.Key, s.kind.Logger, messages)
	return f
}

// An origin is the source of the items of a kind.
type origin struct {
	static   *List             // the list in the registry file, if it is the only source, or nil
	discover bool              // scan the content directories
	declared *declare.List     // the declared entries of the kind, or nil
	document *declare.Document // the content of register.json, or nil
}

func (c *Catalog) origin(ctx context.Context, s *state, r request) (origin, error) {
	static := c.p.Discovery.Static && !r.force
	declarable := s.kind.Build != nil // UI resources cannot be declared
	var doc *declare.Document
	if declarable {
		var err error
		if doc, err = c.declared.Read(r.asked, c.checks.Load()); err != nil {
			return origin{}, err
		}
	}
	from := origin{document: doc}
	if doc != nil {
		from.declared = doc.Lists[s.kind.Key]
	}
	if static && from.declared == nil && len(doc.Excluded(s.kind)) == 0 {
		if list := c.staticList(s); list != nil {
			return origin{static: list}, nil
		}
	}
	if declarable && doc == nil && !static {
		lists, err := c.hook.Read(ctx)
		if err != nil {
			return origin{}, err
		}
		from.declared = lists[s.kind.Key]
	}
	from.discover = s.kind.Trees != nil && (from.declared == nil || from.declared.Merge)
	return from, nil
}

// staticList returns the list in the registry file, or nil if there is no valid file.
func (c *Catalog) staticList(s *state) *List {
	if s.static != nil {
		return s.static
	}
	file, err := c.store.read(s.kind)
	if err != nil {
		level := mcp.Debug
		if _, ok := errors.AsType[*trust.InsecureError](err); ok {
			level = mcp.Warning
		}
		c.messages.report("static "+s.kind.Key, s.kind.Logger, []item.Message{
			{Level: level, Text: fmt.Sprintf("Static registry: %s: %s; discovering", s.kind.File, err)},
		})
		return nil
	}
	c.staticNotice.Do(func() {
		c.log(mcp.Info, s.kind.Logger, "Static registry mode active - "+
			"new tools/resources won't be discovered until restart or MCPBASH_STATIC_REGISTRY=0")
	})
	s.static = file.list(s.kind)
	return s.static
}

// inputs determine a list. Equal inputs have equal lists.
type inputs struct {
	scan     *scan.Result
	declared *declare.Built
	document *declare.Document
	after    *List
}

// build returns the list of a kind. If nothing has changed, it is the last list.
func (c *Catalog) build(ctx context.Context, s *state, r request, from origin) (*List, error) {
	in := inputs{document: from.document}
	s.mergedInto = nil
	if from.declared != nil {
		if from.declared.Err != nil {
			return nil, from.declared.Err
		}
		s.declared = declare.Build(c.p, s.kind, from.declared, s.declared)
		in.declared = s.declared
	}
	if from.discover {
		if s.scan != nil {
			s.scan.Settle(c.store.clock)
		}
		c.scans.Add(1)
		scanned, err := scan.Run(ctx, c.p, s.kind.Spec(), r.within, s.scan, c.now())
		if err != nil {
			return nil, err
		}
		s.scan, in.scan = scanned, scanned.First
	}
	if s.kind.After != nil {
		// The list is from the same refresh, or nil if it is not available.
		in.after, _ = c.obtain(ctx, c.state(s.kind.After), r.asked, func(*outcome) bool { return false })
	}
	partial := r.force && r.within != ""
	if s.built != nil && in == s.inputs && !partial {
		return s.built, nil
	}
	list, messages := c.assemble(s, r, in)
	if s.built != nil && s.built.Hash == list.Hash && slices.EqualFunc(s.built.Items, list.Items, sameItem) {
		list = s.built
	}
	s.inputs, s.built, s.messages = in, list, messages
	return list, nil
}

// assemble makes a list from its inputs. It also returns the messages about the list.
func (c *Catalog) assemble(s *state, r request, in inputs) (list *List, messages []item.Message) {
	a := &kinds.Assembly{Project: c.p, Kind: s.kind, Discovered: in.scan != nil}
	if in.after != nil {
		a.After = in.after.Items
	}
	if in.scan != nil {
		a.Messages = in.scan.Messages()
		a.Found = in.scan.Candidates()
		if r.force && r.within != "" {
			file, _ := c.store.read(s.kind)
			over := file.sum()
			s.mergedInto = &over
			a.Found = append(a.Found, outside(file, r.within, a.Found)...)
		}
	}
	if in.declared != nil {
		a.Declared = &in.declared.Declared
		a.Messages = append(a.Messages, in.declared.Messages...)
	}
	items := kinds.Without(a.Items(), in.document.Excluded(s.kind))
	list = &List{Kind: s.kind, Items: make([]item.Item, len(items))}
	for i := range items {
		list.Items[i] = items[i].Item
	}
	list.Hash = hashOf(list.JSON())
	return list, a.Messages
}

func sameItem(a, b item.Item) bool { return a.Name == b.Name && string(a.JSON) == string(b.JSON) }

// outside returns the items of the registry file that a refresh of a subtree keeps.
func outside(file *envelope, within string, inside []item.Candidate) []item.Candidate {
	if file == nil {
		return nil
	}
	names := make(map[string]bool, len(inside))
	for _, f := range inside {
		names[f.Name] = true
	}
	var kept []item.Candidate
	for _, f := range file.found() {
		below := f.Path == within || strings.HasPrefix(f.Path, within+"/")
		if !below && (f.Path != "" || !names[f.Name]) {
			kept = append(kept, f)
		}
	}
	return kept
}
