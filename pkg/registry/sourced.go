package registry

import "context"

const discoveredSource = "discovered"

// A standing is a tool of the effective registry, and where it comes from.
type standing struct {
	found
	source string
}

// standings says where the tools of a list come from. manual is the handwritten
// list it was made with, nil for none.
func standings(list *List, manual *manualScan) []standing {
	byHand := make(map[string]bool)
	if manual != nil {
		for _, f := range manual.found {
			byHand[f.Name] = true
		}
	}
	all := make([]standing, len(list.Items))
	for i, item := range list.Items {
		all[i] = standing{foundOf(item.JSON), discoveredSource}
		if byHand[item.Name] {
			all[i].source = manual.from.origin
		}
	}
	return all
}

// Sourced looks at the project, brings its registry file up to date, and returns all tools.
func (c *Catalog) Sourced(ctx context.Context) ([]standing, error) {
	s := c.state(Tools)
	if _, err := c.list(ctx, s, true); err != nil {
		return nil, err
	}
	if err := s.turn.take(ctx); err != nil {
		return nil, err
	}
	defer s.turn.give()
	o := s.last.Load()
	if o.err != nil {
		return nil, o.err
	}
	var manual *manualScan
	if o.list == s.made { // it is not a file as it is
		manual = s.inputs.manual
	}
	return standings(o.list, manual), nil
}

// Preview returns what the tools of the project would be with other declarations.
// It writes nothing.
func (c *Catalog) Preview(ctx context.Context, said *declarations) ([]standing, error) {
	s := c.state(Tools)
	if err := s.turn.take(ctx); err != nil {
		return nil, err
	}
	defer s.turn.give()
	from := origin{declared: said}
	if said != nil {
		from.manual = said.kinds[Tools.Key]
	}
	from.discover = from.manual == nil || from.manual.merge
	list, err := c.make(ctx, s, request{}, from)
	if err != nil {
		return nil, err
	}
	return standings(list, s.inputs.manual), nil
}
