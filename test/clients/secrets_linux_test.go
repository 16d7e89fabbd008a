package clients

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"mcp-bash/test/checkout"
)

// Scripts run as the server's user. They still see nothing of its environment
// and memory, and cannot write to its output (P-2304, P-2305).
func TestServerIsShielded(t *testing.T) {
	t.Parallel()
	secret := "a secret of more than thirty-two characters"
	project := checkout.Copy(t, "testdata/hostile")
	write(t, `{"name":"attack","description":"Starts some programs","timeoutSecs":60,"inputSchema":{"type":"object"}}`,
		project, "tools/attack/tool.meta.json") // two seconds are short for a busy machine
	s := open(t, project, opening{
		env:          map[string]string{"MCP_REGISTRY_TOKEN": secret, "MCPBASH_REMOTE_TOKEN_NOTE": secret},
		unprivileged: true,
	})
	if got := text(t, s.succeed("attack", arguments{"what": "spy"})); got != "done\n" {
		t.Errorf("the script: %s", got)
	}
}

// asNobody returns the attributes with which root starts a command as another
// user, because root may see everything. Other users start it as themselves.
func (s *session) asNobody(binary string) *syscall.SysProcAttr {
	const nobody = 65534
	if os.Geteuid() != 0 {
		return nil
	}
	for _, dir := range []string{filepath.Dir(s.tmp), s.tmp, filepath.Dir(binary)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := os.Chown(s.tmp, nobody, nobody); err != nil {
		s.t.Fatal(err)
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}
