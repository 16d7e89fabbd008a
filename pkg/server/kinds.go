package server

import "mcp-bash/pkg/engine"

// A kind serves one family of methods.
type kind interface {
	methods() []*method
}

// serveKinds puts together what serves each kind of thing that a project offers:
// whatever there is to know of a kind is known to its file and to this function.
func (s *Server) serveKinds(e *engine.Engine) {
	resources := newResources(s.base, e, s.logger, s.roots)
	s.changes.catalog, s.changes.resources = e.Catalog, resources.subscriptions.reconsider
	for _, k := range []kind{
		newTools(e, s.client, &s.token),
		resources,
		newPrompts(e),
		newCompletions(e),
	} {
		for _, m := range k.methods() {
			s.handshake.methods[m.name], s.stateless.methods[m.name] = m, m
		}
	}
	for _, m := range resources.subscriptions.methods() {
		s.handshake.methods[m.name] = m
	}
	s.streams.resources, s.streams.subscriptions = resources.Resources, resources.subscriptions
	s.streams.fetching = &e.Project.Fetching
	for _, m := range s.streams.methods() {
		s.stateless.methods[m.name] = m
	}
}
