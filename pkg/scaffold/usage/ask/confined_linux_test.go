package ask

import (
	"os"
	"testing"

	"mcp-bash/pkg/run/confine"
)

// WRAP-14: a program that does something else when it is asked for help changes nothing
// outside its own directories. It cannot connect to or signal anything.
func TestConfined(t *testing.T) {
	if confine.Offered().Lacks(&confine.Profile{}) != nil {
		t.Skip("this kernel cannot hold all")
	}
	outside := t.TempDir()
	a, _ := programs(t, map[string]string{"wild": `
echo 'usage: wild [--help]'
echo x >` + outside + `/new && echo '  --wrote  x'
rm -rf ` + outside + ` && echo '  --removed  x'
: >/dev/udp/127.0.0.1/9 && echo '  --sent  x'
kill -0 $PPID && echo '  --signalled  x'
echo x >"$HOME/x" && echo x >"$TMPDIR/x" && [[ $(</etc/passwd) ]] && uname >/dev/null && echo '  --works  x'
`})
	p, err := a.Program(t.Context(), []string{"wild"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"--wrote", "--removed", "--sent", "--signalled"} {
		if p.Find(name) != nil {
			t.Errorf("%s was possible", name)
		}
	}
	if p.Find("--works") == nil {
		t.Error("what help may take was refused")
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}
