package project

import "testing"

// R-144a: clients see no absolute path.
func TestBriefPath(t *testing.T) {
	inside := &Project{Root: "/p", Dirs: Dirs{Server: "/p/server.d"}}
	outside := &Project{Root: "/p", Dirs: Dirs{Server: "/etc/my srv"}}
	for _, c := range []struct {
		p           *Project
		path        string
		shown, word string
	}{
		{inside, "/p", "the project root", "."},
		{inside, "/p/a b", "a b", "'a b'"},
		{inside, "/p/server.d", "server.d", "server.d"},
		{outside, "/etc/my srv", "$MCPBASH_SERVER_DIR", `"$MCPBASH_SERVER_DIR"`},
		{outside, "/etc/my srv/a b", "$MCPBASH_SERVER_DIR/a b", `"$MCPBASH_SERVER_DIR"/'a b'`},
		{outside, "/other/dir", "dir", "dir"},
	} {
		if shown, word := c.p.briefPath(c.path); shown != c.shown || word != c.word {
			t.Errorf("%s: %s, %s", c.path, shown, word)
		}
	}
}
