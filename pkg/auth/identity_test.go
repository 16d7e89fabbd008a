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
		{Name: "n", Issuer: "i", Subject: "s", Scopes: []string{"a", "b"}, Tools: []string{"x", "y"}},
		{Name: "n", Issuer: "i", Subject: "s", Scopes: []string{"b", "a", "a"}, Tools: []string{"y", "x"}},
	}
	if same[0].Key() != same[1].Key() {
		t.Error("the order of scopes or tools changes the key")
	}
	seen := map[string]int{}
	for n, id := range []*Identity{
		nil, {}, {Tools: []string{}}, {Name: "n"}, {Issuer: "n"}, {Subject: "n"}, {Scopes: []string{"n"}},
		{Tools: []string{"n"}}, {Name: "n", Issuer: "n"}, {Name: "nn"}, {Scopes: []string{"n", "m"}},
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
	scopes := Scopes{"read": {"list", "show"}, "edit": {"show", "change", "list"}, "admin": {"*"}, "none": {}}
	file := func(tools ...string) *Identity { return &Identity{Name: "n", Tools: tools} }
	token := func(scopes ...string) *Identity { return &Identity{Name: "n", Issuer: "i", Scopes: scopes} }
	for _, tc := range []struct {
		id         *Identity
		scopes     Scopes
		tool, need string
		ok         bool
	}{
		{nil, scopes, "show", "", true},
		{file(), scopes, "show", "", true},
		{&Identity{Tools: []string{}}, scopes, "show", "", false},
		{file("show"), scopes, "show", "", true},
		{file("show"), scopes, "change", "", false},
		{file("ch*ge"), scopes, "change", "", true},
		{token(), nil, "show", "", true},
		{token(), Scopes{}, "show", "", false},
		{token("read"), scopes, "show", "", true},
		{token("read", "other"), scopes, "change", "edit", false},
		{token("none"), scopes, "show", "read", false},
		{token("none"), scopes, "delete", "admin", false},
		{token("admin"), scopes, "delete", "", true},
		{&Identity{Issuer: "i", Scopes: []string{"read"}, Tools: []string{"list"}}, scopes, "show", "", false},
	} {
		if need, ok := tc.id.Permits(tc.tool, tc.scopes); ok != tc.ok || need != tc.need {
			t.Errorf("%+v may call %s: %q, %v", tc.id, tc.tool, need, ok)
		}
	}
}

// H-422: the lists of callers with the same permissions are shared.
func TestPermission(t *testing.T) {
	scopes := Scopes{"read": {"list"}}
	a := &Identity{Name: "a", Issuer: "i", Scopes: []string{"read", "x"}}
	b := &Identity{Name: "b", Issuer: "j", Scopes: []string{"y", "read"}}
	c := &Identity{Name: "b", Issuer: "j", Scopes: []string{"y"}}
	if a.Permission(scopes) != b.Permission(scopes) || b.Permission(scopes) == c.Permission(scopes) ||
		a.Permission(nil) != "" || (*Identity)(nil).Permission(scopes) != "" ||
		(&Identity{Name: "t"}).Permission(scopes) != "" || (&Identity{Tools: []string{}}).Permission(nil) == "" {
		t.Error("permissions differ")
	}
}

// H-217: the owner of a share is a person or program, whatever its rights and its application are.
func TestOwner(t *testing.T) {
	same := []*Identity{
		{Name: "app", Issuer: "i", Subject: "s"}, {Name: "other app", Issuer: "i", Subject: "s"},
		{Name: "app", Issuer: "i", Subject: "s", Scopes: []string{"a"}}, {Name: "app", Issuer: "i", Subject: "s",
			Tools: []string{"x"}},
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
