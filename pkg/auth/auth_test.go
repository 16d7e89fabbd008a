package auth

import "testing"

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
