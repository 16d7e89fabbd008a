package registration

import (
	"slices"
	"strings"
	"sync"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/registry/item"
)

// A Memory is a [ToolRegistry] in memory, which belongs to no project. It checks
// what a [Project] checks, as far as that needs no files; a tool in it need not have
// a path. It may be used from any goroutine.
type Memory struct {
	mu    sync.RWMutex
	tools []item.Candidate // sorted by name
}

var _ ToolRegistry = (*Memory)(nil)

// New returns an empty registry in memory.
func New() *Memory { return &Memory{} }

// RegisterTool registers a tool.
func (m *Memory) RegisterTool(r ToolRegistration) error {
	reg, faults := readRegistration(r.payload())
	if err := reg.invalid(faults); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if at := slices.IndexFunc(m.tools, reg.collides); at >= 0 {
		return reg.duplicateOf(m.tools[at], m.tools[at].Path)
	}
	order := func(f item.Candidate, name string) int { return strings.Compare(f.Name, name) }
	at, _ := slices.BinarySearchFunc(m.tools, reg.Name, order)
	m.tools = slices.Insert(m.tools, at, reg.Candidate)
	return nil
}

// UnregisterTool takes a tool out, given its id or name.
func (m *Memory) UnregisterTool(id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := indexOf(m.tools, id)
	if at < 0 {
		return notFound(id, m.tools)
	}
	m.tools = slices.Delete(m.tools, at, at+1)
	return nil
}

// GetTool returns a tool by its id or name.
func (m *Memory) GetTool(id string) (ToolRegistration, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	at := indexOf(m.tools, id)
	if at < 0 {
		return ToolRegistration{}, false
	}
	return registrationOf(m.tools[at].JSON), true
}

// ListTools returns all tools, sorted by name.
func (m *Memory) ListTools() []ToolRegistration {
	m.mu.RLock()
	defer m.mu.RUnlock()
	list := make([]ToolRegistration, 0, len(m.tools))
	for _, f := range m.tools {
		list = append(list, registrationOf(f.JSON))
	}
	return list
}

// indexOf returns the place of a tool, given its id or else its name; -1 when there
// is none.
func indexOf(tools []item.Candidate, id string) int {
	at := slices.IndexFunc(tools, func(f item.Candidate) bool { return f.ID == id })
	if at < 0 {
		at = slices.IndexFunc(tools, func(f item.Candidate) bool { return f.Name == id })
	}
	return at
}

// collides reports whether a tool has the id or the name of the registration.
func (reg *registration) collides(f item.Candidate) bool { return f.ID == reg.ID || f.Name == reg.Name }

// duplicateOf returns the error for a tool whose id or name is taken. where is the
// file of the one that has it, "" when it has none.
func (reg *registration) duplicateOf(f item.Candidate, where string) error {
	taken := reg.Name
	if f.ID == reg.ID {
		taken = reg.ID
	}
	if where != "" {
		where = " (" + where + ")"
	}
	return refuse(ErrDuplicateTool, reg.ID, "tool '%s' is already registered%s", taken, where)
}

// notFound returns the error for a tool that is not there, with the name that was
// probably meant.
func notFound(id string, tools []item.Candidate) error {
	var known []string
	for _, f := range tools {
		known = append(known, f.Name, f.ID)
	}
	return refuse(ErrToolNotFound, id, "tool '%s' is not registered%s", id, cli.DidYouMean(id, known))
}
