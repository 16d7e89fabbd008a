package registration

import (
	"slices"
	"strings"
	"sync"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/registry/item"
)

// A Memory is a [ToolRegistry] that belongs to no project and forgets
// everything in the end. It checks what a [Project] checks, as far as that
// needs no files; a tool in it need not have a path. It may be used from any
// goroutine.
type Memory struct {
	mu    sync.RWMutex
	tools []item.Candidate // sorted by name
}

var _ ToolRegistry = (*Memory)(nil)

// New returns an empty registry.
func New() *Memory { return &Memory{} }

// RegisterTool is [ToolRegistry.RegisterTool].
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
	at, _ := slices.BinarySearchFunc(m.tools, reg.Name, func(f item.Candidate, name string) int { return strings.Compare(f.Name, name) })
	m.tools = slices.Insert(m.tools, at, reg.Candidate)
	return nil
}

// UnregisterTool is [ToolRegistry.UnregisterTool].
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

// GetTool is [ToolRegistry.GetTool].
func (m *Memory) GetTool(id string) (ToolRegistration, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	at := indexOf(m.tools, id)
	if at < 0 {
		return ToolRegistration{}, false
	}
	return registrationOf(m.tools[at].JSON), true
}

// ListTools is [ToolRegistry.ListTools].
func (m *Memory) ListTools() []ToolRegistration {
	m.mu.RLock()
	defer m.mu.RUnlock()
	list := make([]ToolRegistration, 0, len(m.tools))
	for _, f := range m.tools {
		list = append(list, registrationOf(f.JSON))
	}
	return list
}

// indexOf looks a tool up by its id, else by its name; -1 when there is none.
func indexOf(tools []item.Candidate, id string) int {
	at := slices.IndexFunc(tools, func(f item.Candidate) bool { return f.ID == id })
	if at < 0 {
		at = slices.IndexFunc(tools, func(f item.Candidate) bool { return f.Name == id })
	}
	return at
}

// collides reports whether a tool has the id or the name of the registration.
func (reg *registration) collides(f item.Candidate) bool { return f.ID == reg.ID || f.Name == reg.Name }

// duplicateOf makes the error for a tool whose id or name is taken. where is
// the file of the one that has it, "" when it has none.
func (reg *registration) duplicateOf(f item.Candidate, where string) error {
	taken := reg.Name
	if f.ID == reg.ID {
		taken = reg.ID
	}
	if where != "" {
		where = " (" + where + ")"
	}
	return newError(ErrDuplicateTool, reg.ID, "tool '"+taken+"' is already registered"+where)
}

func notFound(id string, tools []item.Candidate) error {
	var known []string
	for _, f := range tools {
		known = append(known, f.Name, f.ID)
	}
	return newError(ErrToolNotFound, id, "tool '"+id+"' is not registered"+cli.DidYouMean(id, known))
}
