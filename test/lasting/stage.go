//go:build linux

package lasting

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"mcp-bash/test/checkout"
)

// A stage is the project that is served, and the folders that its servers use.
type stage struct {
	project, tmp, home, records string
	key                         string // file
	files                       []*changing
}

// A changing is a file of the project that faults replace. Each of its versions has a number. A reader that begins
// when the number is low, and ends when it is high, gets one of the versions between.
type changing struct {
	name      string
	text      func(version int) string
	low, high atomic.Int64
}

const (
	plainText = "#!/bin/bash\nprintf 'plain %d %%s' \"$MCP_TOOL_ARGS_JSON\"\n"
	sdkText   = `#!/bin/bash
set -euo pipefail
source "${MCP_SDK:?}/tool-sdk.sh"
mcp_into n mcp_args_int .n
mcp_progress 50 "half"
mcp_result_success "$(mcp_json_obj version %d n "$n")"
`
	confinedText = `#!/bin/bash
if : 2>/dev/null >"$HOME/outside"; then
  echo free
else
  printf 'confined %d %%s' "$MCP_TOOL_ARGS_JSON"
fi
`
	largeText = "#!/bin/bash\nprintf 'large %%s\\n' \"$MCP_TOOL_ARGS_JSON\"\nseq 1 %d\n"
	metaText  = `{"name":"plain","description":"version %d",` + schema + `}`
	schema    = `"inputSchema":{"type":"object","properties":{"n":{"type":"integer"},"pad":{"type":"string"}}}`
)

// largeLines is the number of lines that the tool large prints.
const largeLines = 6000

// newStage writes a project.
func newStage(dir string) (*stage, error) {
	s := &stage{project: dir + "/project", tmp: dir + "/tmp", home: dir + "/home", records: dir + "/records",
		key: dir + "/key"}
	files := map[string]string{
		"server.d/server.meta.json":     `{"name":"lasting","version":"1.0.0"}`,
		"tools/sdk/tool.meta.json":      `{"name":"sdk","description":"uses the SDK",` + schema + `}`,
		"tools/fail/tool.meta.json":     `{"name":"fail","description":"fails",` + schema + `}`,
		"tools/fail/tool.sh":            "#!/bin/bash\necho no >&2\nexit 3\n",
		"tools/hang/tool.meta.json":     `{"name":"hang","description":"hangs","timeoutSecs":1,` + schema + `}`,
		"tools/hang/tool.sh":            "#!/bin/bash\nexec sleep 600\n",
		"tools/large/tool.meta.json":    `{"name":"large","description":"prints","largeResultBytes":4096,` + schema + `}`,
		"tools/large/tool.sh":           fmt.Sprintf(largeText, largeLines),
		"tools/confined/tool.meta.json": `{"name":"confined","capabilities":["Search"],` + schema + `}`,
		"prompts/greeting.meta.json": `{"name":"greeting","description":"Greets","arguments":{"type":"object",` +
			`"properties":{"name":{"type":"string"}},"required":["name"]}}`,
		"prompts/greeting.completion.sh": "#!/bin/bash\necho '[\"Ada\"]'\n",
	}
	for name, text := range files {
		if err := s.write(name, text); err != nil {
			return nil, err
		}
	}
	for _, f := range []struct{ name, text string }{
		{"tools/plain/tool.sh", plainText}, {"tools/sdk/tool.sh", sdkText}, {"tools/confined/tool.sh", confinedText},
		{"tools/plain/tool.meta.json", metaText}, {"resources/notes.txt", "notes %d\n"},
		{"prompts/greeting.txt", "Greet {{name}} %d"},
	} {
		c := &changing{name: f.name, text: func(version int) string { return fmt.Sprintf(f.text, version) }}
		s.files = append(s.files, c)
		if err := s.write(c.name, c.text(0)); err != nil {
			return nil, err
		}
	}
	for _, dir := range []string{s.tmp, s.home, s.records} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
	}
	return s, os.WriteFile(s.key, []byte(strings.Repeat("0123456789abcdef", 4)), 0o600)
}

func (s *stage) write(name, text string) error {
	file := filepath.Join(s.project, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), modeOf(name))
}

func modeOf(name string) os.FileMode {
	if strings.HasSuffix(name, ".sh") {
		return 0o755
	}
	return 0o644
}

// file returns the file of a name that changes.
func (s *stage) file(name string) *changing {
	for _, f := range s.files {
		if f.name == name {
			return f
		}
	}
	panic(name)
}

// replace puts the next version in the place of a file. The time of the new file is up to a day before or after now, as
// after a jump of the clock.
func (s *stage) replace(r *rand.Rand) error {
	f := s.files[r.IntN(len(s.files))]
	version := int(f.high.Add(1))
	next := filepath.Join(s.project, ".next")
	if err := checkout.WriteProgram(next, []byte(f.text(version))); err != nil {
		return err
	}
	if err := os.Chmod(next, modeOf(f.name)); err != nil {
		return err
	}
	when := time.Now().Add(time.Duration(r.IntN(172_800)-86_400) * time.Second)
	if err := os.Chtimes(next, when, when); err != nil {
		return err
	}
	if err := os.Rename(next, filepath.Join(s.project, f.name)); err != nil {
		return err
	}
	f.low.Store(int64(version))
	return nil
}

// A span are the versions of a file that a call may see.
type span struct {
	file *changing
	low  int64
}

func (f *changing) begin() span { return span{f, f.low.Load()} }

// has reports whether a version between the beginning of the span and now has this text. The text without its
// version has the form of before, version, after.
func (s span) has(text, before, after string) bool {
	rest, ok := strings.CutPrefix(text, before)
	if rest, ok2 := strings.CutSuffix(rest, after); ok && ok2 {
		version, err := strconv.ParseInt(rest, 10, 64)
		return err == nil && version >= s.low && version <= s.file.high.Load()
	}
	return false
}

func (s *stage) uri() string { return "file://" + s.project + "/resources/notes.txt" }
