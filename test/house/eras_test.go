package house

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ofAnEra matches words that belong to one protocol only, in code and in scripts.
var ofAnEra = regexp.MustCompile(`(?i)stateless|handshake|2026-07-28|2025-11-25|protocolVersion|requestState`)

// eraRooms lists the code that may know the protocols. These are the packages with the words of
// the protocol, and the files of the server for one protocol.
var eraRooms = []string{
	"pkg/wire/mcp",
	"pkg/server/handshake.go", "pkg/server/session.go", "pkg/server/asker.go",
	"pkg/server/stateless.go", "pkg/server/exchange.go", "pkg/server/exchanges.go", "pkg/server/requeststate.go",
	"pkg/server/inputset.go", "pkg/server/streams.go",
	// files that connect both and choose the protocol of a request
	"pkg/server/server.go", "pkg/server/start.go", "pkg/server/kinds.go", "pkg/server/dispatch.go", "pkg/server/serve.go",
	"pkg/server/request.go", "pkg/server/exit.go", "pkg/server/idle.go",
	// clients of a server
	"pkg/check/health", "cmd/mcp-bash/request.go", "pkg/scaffold/templates",
	// TLS has a handshake, too
	"pkg/provider/internal/web/tls.go",
	// messages for people
	"pkg/check/validate/rules.go",
}

// No kind, no registry and no script knows the protocol of the client (modern section 7).
func TestEras(t *testing.T) {
	root := filepath.Join("..", "..")
	var known []string
	for _, dir := range []string{"pkg", "cmd", "sdk", "lib", "providers"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			name, _ := filepath.Rel(root, path)
			name = filepath.ToSlash(name)
			ext := filepath.Ext(path)
			if err != nil || d.IsDir() || ext != ".go" && ext != ".sh" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			isRoom := func(room string) bool { return name == room || strings.HasPrefix(name, room+"/") }
			if slices.ContainsFunc(eraRooms, isRoom) {
				known = append(known, name)
				return nil
			}
			for i, line := range strings.Split(string(text), "\n") {
				if ofAnEra.MatchString(line) {
					t.Errorf("%s:%d: %s", name, i+1, strings.TrimSpace(line))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Contains(known, "pkg/server/stateless.go") {
		t.Error("the eras' files were not found")
	}
}
