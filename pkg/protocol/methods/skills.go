package methods

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"mcp-bash/pkg/feature/skill"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/wire/mcp"
)

// skillMethods returns the methods of the extension for skills (SK-21 to SK-23).
func (p *Project) skillMethods() []*calls.Method {
	return []*calls.Method{
		{Name: "skills/list", List: true, Scope: skillScope, Handle: p.listSkills},
		{Name: "skills/get", Scope: skillScope, Handle: p.getSkill},
		{Name: "resources/directory/read", List: true, Scope: skillScope, Handle: p.readDirectory},
	}
}

// skillScope: all clients get the same skills.
const skillScope = "public"

// appendCaching appends how long a client may keep a result, unless the revision has these members for all results.
func appendCaching(b *rawjson.Builder, extra *mcp.Extra, ttl time.Duration) {
	if !extra.Owns("ttlMs") {
		b.Name("ttlMs").Int(int(ttl.Milliseconds())).Name("cacheScope").String(skillScope)
	}
}

// Skills returns the skills folder of the project, or nil.
func (p *Project) Skills() *skill.Folder { return p.skills }

// skillResources returns the SKILL.md files, for clients without the extension (SK-25).
func (p *Project) skillResources() ([]json.RawMessage, string, error) {
	list, err := p.skills.List()
	if err != nil {
		return nil, "", err
	}
	return list.Resources(), list.Hash, nil
}

func (p *Project) skillPage(member string) pageOf {
	own := p.engine.Project
	return pageOf{member: member, size: own.PageSize(), limit: own.Limits.ListResponse,
		ttl: own.Discovery.ResourcesTTL, cached: true}
}

func (p *Project) listSkills(_ context.Context, r *calls.Request) (*calls.Answer, error) {
	list, err := p.skills.List()
	if err != nil {
		return nil, err
	}
	return p.skillPages.of(list).page(r, p.skillPage("skills"))
}

// skillPages has the pages of skills/list, prepared once for each state of the skills.
type skillPages struct {
	mu      sync.Mutex
	list    *skill.List
	current prepared
}

func (s *skillPages) of(list *skill.List) prepared {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list != list {
		entries := make([]json.RawMessage, len(list.Skills))
		for i, one := range list.Skills {
			entries[i] = one.Entry()
		}
		s.list, s.current = list, prepareItems(list.Hash, entries)
	}
	return s.current
}

func prepareItems(hash string, items []json.RawMessage) prepared {
	p := prepared{hash: hash, ends: make([]int, 0, len(items))}
	for _, item := range items {
		p.bytes = append(append(p.bytes, item...), ',')
		p.ends = append(p.ends, len(p.bytes))
	}
	return p
}

func (p *Project) getSkill(_ context.Context, r *calls.Request) (*calls.Answer, error) {
	uri, list, err := p.skillURI(r)
	if err != nil {
		return nil, err
	}
	s := list.Find(uri)
	if s == nil {
		return nil, unknownSkill(uri)
	}
	entry := s.Entry()
	return &calls.Answer{Size: len(entry) + pageRest, TTL: p.engine.Project.Discovery.ResourcesTTL,
		Append: func(dst []byte, extra mcp.Extra) []byte {
			b := rawjson.Over(dst)
			extra.AppendMembers(b.Object())
			appendCaching(b, &extra, p.engine.Project.Discovery.ResourcesTTL)
			extra.AppendOwnMeta(b.Name("skill").Raw(entry))
			return b.End().Bytes()
		}}, nil
}

func (p *Project) readDirectory(_ context.Context, r *calls.Request) (*calls.Answer, error) {
	uri, list, err := p.skillURI(r)
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
	return prepareItems(list.Hash, children).page(r, p.skillPage("resources"))
}

// unknownSkill returns the error for a URI that names no skill or folder. SEP-2640 gives the code.
func unknownSkill(uri string) *mcp.Error {
	var b rawjson.Builder
	err := mcp.Errorf(mcp.CodeInvalidParams, "There is no such skill")
	err.Data = b.Object().Name("uri").String(uri).End().Bytes()
	return err
}

func (p *Project) skillURI(r *calls.Request) (string, *skill.List, error) {
	uri, _ := rawjson.Text(rawjson.Get(r.Params, "uri"))
	if uri == "" {
		return "", nil, mcp.Errorf(mcp.CodeInvalidParams, "uri is required, such as skill://NAME/SKILL.md")
	}
	list, err := p.skills.List()
	return uri, list, err
}
