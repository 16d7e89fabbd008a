//go:build unix

package serve

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/serve/httpd"
)

// H-421, H-501, H-502: a server over HTTP does not start with wrong settings.
func TestReplicaSettings(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, mode os.FileMode, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		os.Chmod(path, mode)
		return path
	}
	hexKey := hex.EncodeToString(bytes.Repeat([]byte{7}, 32))
	key, short, open := file("key", 0o600, hexKey), file("short", 0o600, hexKey[2:]), file("open", 0o644, hexKey)
	const url = "http://10.0.0.7:8000"
	for _, tc := range []struct {
		http httpd.Options
		env  project.Env
		meta string
		want string // of standard error; "": it starts
	}{
		{http: httpd.Options{StateKeyFile: key, Advertise: url}},
		{env: project.Env{"MCPBASH_HTTP_STATE_KEY_FILE": key, "MCPBASH_HTTP_ADVERTISE": url}},
		{http: httpd.Options{StateKeyFile: key}, env: project.Env{"MCPBASH_HTTP_STATE_KEY_FILE": short}},
		{http: httpd.Options{StateKeyFile: dir + "/none"}, want: "state key file " + dir + "/none: no such file"},
		{env: project.Env{"MCPBASH_HTTP_STATE_KEY_FILE": short}, want: "line 1 is not a key"},
		{http: httpd.Options{StateKeyFile: open}, want: "others can read it; run chmod 600 " + open},
		{http: httpd.Options{Advertise: url}, want: "--advertise needs --state-key-file"},
		{http: httpd.Options{StateKeyFile: key, Advertise: url + "/mcp"}, want: "--advertise: \"" + url + "/mcp\" is not"},
		{meta: `{"scopes":{"a":5}}`, want: `scopes: the tools of "a" must be a list of names`},
		{meta: `{"scopes":{"a":["hello"]}}`},
	} {
		tc.http.Addr = "127.0.0.1:0"
		if tc.meta == "" {
			tc.meta = "{}"
		}
		root := files(t, map[string]string{"server.d/server.meta.json": tc.meta})
		env := project.Env{
			"MCPBASH_PROJECT_ROOT": root, "PATH": os.Getenv("PATH"), "HOME": t.TempDir(), "TMPDIR": t.TempDir(),
		}
		for name, value := range tc.env {
			env[name] = value
		}
		var stderr bytes.Buffer
		st := newStarter(Options{
			Env: env, Dir: root, Tree: func() project.Tree { return project.Tree{sdkMark: nil} }, Stderr: &stderr,
			HTTP: &tc.http,
		})
		st.caught = func() {}
		p, err := st.start()
		if err == nil {
			p.transport.Close()
			p.state.Remove()
		}
		st.stop(nil)
		if (err == nil) != (tc.want == "") || err != nil && (!strings.Contains(err.Error(), tc.want) ||
			!strings.HasPrefix(err.Error(), "mcp-bash: serve --http: ") || strings.Contains(err.Error(), hexKey[:8])) {
			t.Errorf("%+v %v: %v, want %q", tc.http, tc.env, err, tc.want)
		}
	}
}
