package methods

import (
	"context"
	"encoding/json"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/feature/skill"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/wire/mcp"
)

// skillMethods returns the methods of the extension for skills (SK-21 to SK-23). scope is their cacheScope.
func (c *Client) skillMethods(scope string) []*calls.Method {
	return []*calls.Method{
		{Name: "skills/list", List: true, Scope: scope, Handle: c.listSkills},
		{Name: "skills/get", Scope: scope, Handle: c.getSkill},
		{Name: "resources/directory/read", List: true, Scope: scope, Handle: c.readDirectory},
	}
}

// appendCaching appends how long a client may keep a result, unless the revision has these members for all results.
func appendCaching(b *rawjson.Builder, extra *mcp.Extra, ttl time.Duration, scope string) {
	if !extra.Owns("ttlMs") {
		b.Name("ttlMs").Int(int(ttl.Milliseconds())).Name("cacheScope").String(scope)
	}
}

// Skills returns the skills folder of the project, or nil.
func (p *Project) Skills() *skill.Folder { return p.skills }

// skillResources returns the SKILL.md files, for clients without the extension (SK-25).
func (l *lists) skillResources() ([]json.RawMessage, string, error) {
	s, err := l.currentSkills()
	if err != nil {
		return nil, "", err
	}
	return s.list.Resources(), s.list.Hash, nil
}

func (c *Client) skillPage(member string) pageOf {
	own := c.project.engine.Project
	return pageOf{
		member: member, size: own.PageSize(), limit: own.Limits.ListResponse, ttl: own.Discovery.ResourcesTTL,
		cached: c.cacheScope(),
	}
}

func (c *Client) listSkills(_ context.Context, r *calls.Request) (*calls.Answer, error) {
	s, err := c.listed.currentSkills()
	if err != nil {
		return nil, err
	}
	return s.page.page(r, c.skillPage("skills"))
}

// skills are those that callers may read, prepared once for each state of the skills.
type skills struct {
	of   *skill.List // of the project
	list *skill.List
	page prepared // of skills/list
}

func (l *lists) currentSkills() (*skills, error) {
	list, err := l.project.skills.List()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.skills == nil || l.skills.of != list {
		s := &skills{of: list, list: list}
		if l.permission != "" {
			s.list = list.Only(func(name string) bool { return l.permits(auth.Resource, name) })
		}
		entries := make([]json.RawMessage, len(s.list.Skills))
		for i, one := range s.list.Skills {
			entries[i] = one.Entry()
		}
		s.page, l.skills = prepareItems(s.list.Hash, entries), s
	}
	return l.skills, nil
}

func prepareItems(hash string, items []json.RawMessage) prepared {
	p := prepared{hash: hash, ends: make([]int, 0, len(items))}
	for _, item := range items {
		p.bytes = append(append(p.bytes, item...), ',')
		p.ends = append(p.ends, len(p.bytes))
	}
	return p
}

func (c *Client) getSkill(_ context.Context, r *calls.Request) (*calls.Answer, error) {
	uri, list, err := c.skillURI(r)
	if err != nil {
		return nil, err
	}
	s := list.Find(uri)
	if s == nil {
		return nil, unknownSkill(uri)
	}
	entry, ttl, scope := s.Entry(), c.project.engine.Project.Discovery.ResourcesTTL, c.cacheScope()
	return &calls.Answer{Size: len(entry) + pageRest, TTL: ttl,
		Append: func(dst []byte, extra mcp.Extra) []byte {
			b := rawjson.Over(dst)
			extra.AppendMembers(b.Object())
			appendCaching(b, &extra, ttl, scope)
			extra.AppendOwnMeta(b.Name("skill").Raw(entry))
			return b.End().Bytes()
		}}, nil
}

func (c *Client) readDirectory(_ context.Context, r *calls.Request) (*calls.Answer, error) {
	uri, list, err := c.skillURI(r)
	if err != nil {
		return nil, err
	}
	children := list.Children(uri)
	switch {
	case list.IsFile(uri):
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "%s is a file, not a directory; read it with resources/read", uri)
	case children == nil:
		return nil, unknownSkill(uri)
	}
	return prepareItems(list.Hash, children).page(r, c.skillPage("resources"))
}

// unknownSkill returns the error for a URI that names no skill or folder. SEP-2640 gives the code.
func unknownSkill(uri string) *mcp.Error {
	var b rawjson.Builder
	err := mcp.Errorf(mcp.CodeInvalidParams, "There is no such skill")
	err.Data = b.Object().Name("uri").String(uri).End().Bytes()
	return err
}

func (c *Client) skillURI(r *calls.Request) (string, *skill.List, error) {
	uri := r.Params.Text(mcp.ParamURI)
	if uri == "" {
		return "", nil, mcp.Errorf(mcp.CodeInvalidParams, "uri is required, such as skill://NAME/SKILL.md")
	}
	s, err := c.listed.currentSkills()
	if err != nil {
		return "", nil, err
	}
	return uri, s.list, nil
}
