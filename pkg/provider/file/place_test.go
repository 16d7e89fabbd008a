//go:build unix

package file

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mcp-bash/pkg/provider"
)

// canary is the content of every file outside the roots. No read may return it.
const canary = "CANARY-7d1f"

// place creates a directory T with this content:
//
//	T/root/            the only root, named as the resources directory
//	T/root1/s.txt      a sibling of the root, with the canary
//	T/secret.txt       above the root, with the canary
//
// The root also contains links of every kind.
func place(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"root/f.txt": "hello\n", "root/empty": "", "root/sub/g.txt": "g", "root/sub/deep/h.txt": "h",
		"root/with space.txt": "space", "root/100%.txt": "percent", "root/a%20b.txt": "literal",
		"root/%66.txt": "escape",
		"root/q?.txt":  "question", "root/q": "cut", "root/h#1": "hash", "root/é.txt": "accent",
		"root/[x]*.txt":    "glob",
		"root/back\\slash": "backslash", "root/-rf": "dash", "root/...": "dots", "root/new\nline": "newline",
		"root/~":     "tilde",
		"root/$HOME": "dollar", "root/.hidden": "hidden", "root/semi;colon": "semi", "root/bad\xffname": "latin",
		"root/file:": "colon", "root/C:": "drive",
		"root1/s.txt": canary, "secret.txt": canary, "root.txt": canary, "rootx/f.txt": canary, "other/dir/x": canary,
		"[x]": canary,
	} {
		file := filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(file), 0o755)
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"root/inlink": "f.txt", "root/inabs": "{T}/root/f.txt", "root/indir": "sub", "root/up/inner": "../sub/g.txt",
		"root/chain": "chain2", "root/chain2": "inabs", "root/round": "../root/f.txt", "root/dirabs": "{T}/root/sub",
		"root/esc": "{T}/secret.txt", "root/escrel": "../secret.txt", "root/dirlink": "../root1",
		"root/dirlinkabs": "{T}/root1",
		"root/twice":      "escrel", "root/sub/out": "../../root1/s.txt", "root/parent": "..", "root/self": ".",
		"root/slash":    "/",
		"root/dangling": "none.txt", "root/danglingout": "../none.txt", "root/danglingdir": "../nodir/none.txt",
		"root/loop":  "loop",
		"root/loopa": "loopb", "root/loopb": "loopa", "root/viafile": "f.txt/../../secret.txt",
		"root/viadir":  "sub/../../secret.txt",
		"root/vialink": "dirlink/s.txt", "root/null": "/dev/null", "root/procroot": "/proc/self/root",
		"root/cwd":    "/proc/self/cwd",
		"root/sneaky": "sub/deep/../../../root1/s.txt", "other/back": "../root",
		"root/boomerang": "../other/back/f.txt",
		"rootlink":       "root",
	} {
		name := filepath.Join(dir, link)
		os.MkdirAll(filepath.Dir(name), 0o755)
		if err := os.Symlink(strings.ReplaceAll(target, "{T}", dir), name); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "root/fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

const limit = 1 << 20

// reader returns a provider with these roots. {T} is replaced by the directory.
func reader(dir, roots string) *Provider {
	var list []string
	for _, root := range strings.Split(roots, "|") {
		if root != "" {
			list = append(list, filepath.Clean(strings.ReplaceAll(root, "{T}", dir)))
		}
	}
	return &Provider{Dir: dir, Roots: func() []string { return list }}
}

// outcome returns the content, or "!" and the status of the failure.
func outcome(t testing.TB, p *Provider, uri string) string {
	t.Helper()
	data, err := p.Read(t.Context(), uri, limit)
	if strings.Contains(string(data), canary) {
		t.Errorf("%q: the canary was read", uri)
	}
	if err == nil {
		return string(data)
	}
	var f *provider.Failure
	if !errors.As(err, &f) {
		t.Errorf("%q: %v is no failure", uri, err)
		return "?"
	}
	if f.Status != provider.Invalid && f.Message != "" {
		t.Errorf("%q: says %q", uri, f.Message)
	}
	return "!" + string(rune('0'+f.Status))
}
