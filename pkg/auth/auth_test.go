package auth

import (
	"strings"
	"testing"
)

// H-400: scripts get bounded text without control characters, and no two callers look alike.
func TestVariables(t *testing.T) {
	long := strings.Repeat("x", 1025)
	id := &Identity{Name: "a\nMCP_CLIENT_SCOPES=admin", Issuer: "https://i.example", Subject: long,
		Scopes: []string{"a", "b c", "", "ü", "d:e", "x\"y", long}}
	got := map[string]string{}
	id.EachVariable(func(name, value string) { got[name] = value })
	if !strings.HasPrefix(got["MCP_CLIENT_ID"], "sha256:") || !strings.HasPrefix(got["MCP_CLIENT_SUBJECT"],
		"sha256:") ||
		got["MCP_CLIENT_ID"] == got["MCP_CLIENT_SUBJECT"] || got["MCP_CLIENT_ISSUER"] != "https://i.example" ||
		got["MCP_CLIENT_SCOPES"] != "a d:e" {
		t.Errorf("%q", got)
	}
	(*Identity)(nil).EachVariable(func(name, value string) {
		if value != "" {
			t.Errorf("%s=%q without identity", name, value)
		}
		delete(got, name)
	})
	if len(got) > 0 {
		t.Errorf("not set without identity: %q", got)
	}
}

// H-401: the key of an identity depends on each of its parts, and not on the order of lists.
func TestEqualIdentities(t *testing.T) {
	same := []*Identity{
		{Name: "n", Issuer: "i", Subject: "s", Scopes: []string{"a", "b"}, Rights: &Rights{Tools: []string{"x", "y"}}},
		{Name: "n", Issuer: "i", Subject: "s", Scopes: []string{"b", "a", "a"}, Rights: &Rights{Tools: []string{"y", "x"}}},
	}
	if same[0].Key() != same[1].Key() {
		t.Error("the order of scopes or tools changes the key")
	}
	seen := map[string]int{}
	for n, id := range []*Identity{
		nil, {}, {Rights: &Rights{Tools: []string{}}}, {Name: "n"}, {Issuer: "n"}, {Subject: "n"}, {Scopes: []string{"n"}},
		{Rights: &Rights{Tools: []string{"n"}}}, {Name: "n", Issuer: "n"}, {Name: "nn"}, {Scopes: []string{"n", "m"}},
		{Scopes: []string{"n m"}}, {Scopes: []string{`n" "m`}}, same[0],
	} {
		if other, ok := seen[id.Key()]; ok {
			t.Errorf("identities %d and %d have the same key", other, n)
		}
		seen[id.Key()] = n
	}
}

// H-420, H-421.
func TestPermits(t *testing.T) {
	tools := func(names ...string) Rights { return Rights{Tools: names} }
	scopes := Scopes{"read": tools("list", "show"), "edit": tools("show", "change", "list"), "admin": tools("*"),
		"none": {}, "docs": {Resources: []string{"doc-*"}, Prompts: []string{"ask"}},
		"all": {Tools: []string{"*"}, Resources: []string{"*"}, Prompts: []string{"*"}}}
	file := func(names ...string) *Identity {
		return &Identity{Name: "n", Rights: &Rights{Tools: names}}
	}
	token := func(scopes ...string) *Identity { return &Identity{Name: "n", Issuer: "i", Scopes: scopes} }
	for _, tc := range []struct {
		id         *Identity
		scopes     Scopes
		kind       ItemKind
		name, need string
		ok         bool
	}{
		{nil, scopes, Tool, "show", "", true},
		{nil, scopes, Resource, "", "", true},
		{&Identity{}, scopes, Tool, "show", "", true},
		{&Identity{}, scopes, Resource, "", "", true},
		{&Identity{}, scopes, Prompt, "x", "", true},
		{file(), scopes, Tool, "show", "", false},
		{file("show"), scopes, Tool, "show", "", true},
		{file("show"), scopes, Tool, "change", "", false},
		{file("ch*ge"), scopes, Tool, "change", "", true},
		{file("*"), scopes, Resource, "show", "", false},
		{file("*"), scopes, Prompt, "show", "", false},
		{&Identity{Rights: &Rights{Resources: []string{"a*"}}}, nil, Resource, "ab", "", true},
		{&Identity{Rights: &Rights{Resources: []string{"a*"}}}, nil, Resource, "", "", false},
		{&Identity{Rights: &Rights{Resources: []string{"a*"}}}, nil, Tool, "ab", "", false},
		{&Identity{Rights: &Rights{Resources: []string{"*"}}}, nil, Resource, "", "", true},
		{&Identity{Rights: &Rights{Prompts: []string{"a"}}}, nil, Prompt, "a", "", true},
		{token(), nil, Tool, "show", "", true},
		{token(), nil, Resource, "", "", true},
		{token(), Scopes{}, Tool, "show", "", false},
		{token("read"), scopes, Tool, "show", "", true},
		{token("read", "other"), scopes, Tool, "change", "edit", false},
		{token("none"), scopes, Tool, "show", "read", false},
		{token("none"), scopes, Tool, "delete", "admin", false},
		{token("admin"), scopes, Tool, "delete", "", true},
		{token("admin"), scopes, Resource, "doc-1", "docs", false},
		{token("admin"), scopes, Resource, "", "all", false},
		{token("docs"), scopes, Resource, "doc-1", "", true},
		{token("docs"), scopes, Prompt, "ask", "", true},
		{token("docs"), scopes, Prompt, "doc-1", "all", false},
		{token("all"), scopes, Resource, "", "", true},
		{&Identity{Issuer: "i", Scopes: []string{"read"}, Rights: &Rights{Tools: []string{"list"}}}, scopes, Tool, "show", "",
			false},
	} {
		if need, ok := tc.id.Permits(tc.kind, tc.name, tc.scopes); ok != tc.ok || need != tc.need {
			t.Errorf("%+v may use %v %s: %q, %v", tc.id, tc.kind, tc.name, need, ok)
		}
	}
}

// H-422: the lists of callers with the same permissions are shared.
func TestPermission(t *testing.T) {
	scopes := Scopes{"read": {Tools: []string{"list"}}}
	a := &Identity{Name: "a", Issuer: "i", Scopes: []string{"read", "x"}}
	b := &Identity{Name: "b", Issuer: "j", Scopes: []string{"y", "read"}}
	c := &Identity{Name: "b", Issuer: "j", Scopes: []string{"y"}}
	if a.Permission(scopes) != b.Permission(scopes) || b.Permission(scopes) == c.Permission(scopes) ||
		a.Permission(nil) != "" || (*Identity)(nil).Permission(scopes) != "" ||
		(&Identity{Name: "t"}).Permission(scopes) != "" || (&Identity{Rights: &Rights{}}).Permission(nil) == "" ||
		(&Identity{Rights: &Rights{Resources: []string{"list"}}}).Permission(nil) ==
			(&Identity{Rights: &Rights{Prompts: []string{"list"}}}).Permission(nil) {
		t.Error("permissions differ")
	}
}

// H-217: the owner of a share is a person or program, whatever its rights and its application are.
func TestOwner(t *testing.T) {
	same := []*Identity{
		{Name: "app", Issuer: "i", Subject: "s"}, {Name: "other app", Issuer: "i", Subject: "s"},
		{Name: "app", Issuer: "i", Subject: "s", Scopes: []string{"a"}}, {Name: "app", Issuer: "i", Subject: "s",
			Rights: &Rights{Tools: []string{"x"}}},
	}
	for _, id := range same {
		if id.Owner() != same[0].Owner() {
			t.Errorf("%+v has another owner", id)
		}
	}
	seen := map[string]bool{}
	for _, id := range []*Identity{
		nil, same[0], {Name: "s", Issuer: "i"}, {Name: "app", Issuer: "i"}, {Name: "app"}, {Name: "app", Subject: "s"},
		{Issuer: `i" subject s`}, {Issuer: "i", Subject: "s subject s"},
	} {
		if seen[id.Owner()] {
			t.Errorf("%+v has the owner of another one", id)
		}
		seen[id.Owner()] = true
	}
	if (*Identity)(nil).Owner() != "" {
		t.Error("nobody has an owner")
	}
}

// H-244: a pattern matches the whole name.
func TestMatches(t *testing.T) {
	for _, test := range []struct {
		pattern, name string
		want          bool
	}{
		{"git", "git", true}, {"git", "git-log", false}, {"git", "Git", false},
		{"*", "anything", true}, {"git-*", "git-log", true}, {"git-*", "git-", true}, {"git-*", "git", false},
		{"*-log", "git-log", true}, {"*-log", "git-logs", false}, {"a*b*c", "abc", true}, {"a*b*c", "a-b-c", true},
		{"a*b*c", "acb", false}, {"a*a", "a", false}, {"**", "", true}, {"*", "", true}, {"", "", true}, {"", "x", false},
	} {
		if got := Matches(test.pattern, test.name); got != test.want {
			t.Errorf("%q %q: %v", test.pattern, test.name, got)
		}
	}
}

func TestKey(t *testing.T) {
	seen := map[string]int{}
	for i, identity := range []*Identity{
		nil, {}, {Name: "a"}, {Subject: "a"}, {Issuer: "a"}, {Name: `a","b`}, {Name: "a", Subject: "b"},
		{Name: "a", Issuer: "b"},
		{Name: "a", Scopes: []string{"x"}}, {Name: "a", Scopes: []string{"x", "y"}}, {Name: "a",
			Scopes: []string{"x y"}},
		{Name: "a", Rights: &Rights{Tools: []string{"x"}}}, {Name: "a", Rights: &Rights{Tools: []string{}}},
	} {
		if other, ok := seen[identity.Key()]; ok {
			t.Errorf("%d and %d: %s", i, other, identity.Key())
		}
		seen[identity.Key()] = i
	}
}

func TestContext(t *testing.T) {
	if IdentityOf(t.Context()) != nil {
		t.Error("an identity from nowhere")
	}
	i := &Identity{Name: "a"}
	if IdentityOf(WithIdentity(t.Context(), i)) != i || IdentityOf(WithIdentity(t.Context(), nil)) != nil {
		t.Error("another identity")
	}
}
