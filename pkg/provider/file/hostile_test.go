//go:build unix

package file

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hostile has lists of URIs by their expected result, with {T}/root as the only root. A result is the content, or "!"
// and the status. place_test.go creates {T}.
var hostile = map[string][]string{
	// Forms of RES-80.
	"hello\n": {
		"file://{T}/root/f.txt", "FILE://{T}/root/f.txt", "FiLe://{T}/root/f.txt", "file://localhost{T}/root/f.txt",
		"file://LOCALHOST{T}/root/f.txt",
		"file://./root/f.txt", "file://root/f.txt", "root/f.txt", "./root/f.txt", "{T}/root/f.txt",
		"file:///{T}/root/f.txt", "file:////{T}/root/f.txt",
		"file://{T}//root///f.txt", "file://{T}/root/./f.txt", "file://{T}/root/sub/../f.txt",
		"file://{T}/root1/../root/f.txt",
		"file://{T}/root/%66%2Etxt", "file://{T}%2Froot%2Ff.txt", "file://{T}/root/f%2etxt", "file://{T}/%72oot/f.txt",
		"file://{T}/root/f.txt?x=1", "file://{T}/root/f.txt#part", "file://{T}/root/f.txt?#",
		"file://{T}/root/f.txt?../../secret.txt", "file://{T}/root/f.txt#/../../secret.txt",
		"file://{T}/root/nodir/../f.txt", "file://{T}/root/f.txt/../f.txt", "file://{T}/root/f.txt/",
		"file://{T}/root/f.txt//", "file://{T}/root/f.txt/.",
		// Links that stay inside (RES-84).
		"file://{T}/root/inlink", "file://{T}/root/inabs", "file://{T}/root/chain", "file://{T}/root/round",
		"file://{T}/root/boomerang", "file://{T}/root/self/f.txt",
		"file://{T}/root/self/self/self/f.txt", "file://{T}/root/parent/root/f.txt", "file://{T}/rootlink/f.txt",
		"file://{T}/root/slash{T}/root/f.txt",
		"file://{T}/root/parent/rootlink/inlink", "file://{T}/other/back/f.txt",
		// A link, then "..": resolved by name, not by the target of the link (RES-82).
		"file://{T}/root/dirlink/../f.txt", "file://{T}/root/esc/../f.txt",
	},
	"g": {"file://{T}/root/sub/g.txt", "file://{T}/root/indir/g.txt", "file://{T}/root/dirabs/g.txt",
		"file://{T}/root/up/inner", "root/indir/g.txt"},
	"":          {"file://{T}/root/empty"},
	"space":     {"file://{T}/root/with%20space.txt", "file://{T}/root/with space.txt", "root/with space.txt"},
	"percent":   {"file://{T}/root/100%25.txt", "file://{T}/root/100%.txt"},
	"literal":   {"file://{T}/root/a%2520b.txt", "file://{T}/root/a%20b.txt"},
	"question":  {"file://{T}/root/q%3F.txt", "file://{T}/root/q?.txt"},
	"cut":       {"file://{T}/root/q?.tx", "file://{T}/root/q#frag", "file://{T}/root/q?", "file://{T}/root/q"},
	"hash":      {"file://{T}/root/h%231", "file://{T}/root/h#1"},
	"accent":    {"file://{T}/root/%C3%A9.txt", "file://{T}/root/%c3%a9.txt", "file://{T}/root/é.txt"},
	"glob":      {"file://{T}/root/[x]*.txt", "file://{T}/root/%5Bx%5D%2A.txt"},
	"backslash": {"file://{T}/root/back%5Cslash", "file://{T}/root/back\\slash"},
	"dash":      {"file://{T}/root/-rf"},
	"dots":      {"file://{T}/root/...", "file://{T}/root/%2e%2e%2e"},
	"newline":   {"file://{T}/root/new%0Aline", "file://{T}/root/new\nline"},
	"tilde":     {"file://{T}/root/~"},
	"dollar":    {"file://{T}/root/$HOME", "file://{T}/root/%24HOME"},
	"hidden":    {"file://{T}/root/.hidden"},
	"semi":      {"file://{T}/root/semi;colon"},
	"latin":     {"file://{T}/root/bad%FFname", "file://{T}/root/bad\xffname"},
	"colon":     {"file://{T}/root/file:"},

	// Outside the roots.
	"!2": {
		// Other files, without tricks.
		"file://{T}/root1/s.txt", "file://{T}/secret.txt", "file://{T}/root.txt", "file://{T}/rootx/f.txt",
		"file:///etc/passwd", "file:///etc/hostname", "file:///",
		"file://", "file:///.", "file:///..", "file://.", "file://..", ".", "..", "/", "secret.txt", "./secret.txt",
		"root1/s.txt", "file://secret.txt", "file://localhost/etc/passwd",
		"file://localhost{T}/root1/s.txt", "{T}/secret.txt", "file://{T}", "file://{T}/", "file://{T}/none.txt",
		"file:///nonexist/none.txt", "file://{T}/nodir/none.txt",
		// Sibling prefixes.
		"file://{T}/roo", "file://{T}/root2", "file://{T}/rootx/", "file://{T}/rootx/f.txt/", "file://{T}/root /f.txt",
		"file://{T}/root./f.txt", "file://{T}/root1",
		// Dots.
		"file://{T}/root/../root1/s.txt", "file://{T}/root/../secret.txt", "file://{T}/root/..", "file://{T}/root/../",
		"file://{T}/root/./../secret.txt", "file://{T}/root/sub/../../secret.txt",
		"file://{T}/root/sub/deep/../../../root1/s.txt", "file://{T}/root/nodir/../../secret.txt",
		"file://{T}/root/f.txt/../../secret.txt", "file://{T}/root/../../../../../../../../etc/passwd",
		"file://{T}/root//../secret.txt", "file://{T}/root/.//..//secret.txt", "root/../secret.txt",
		"./root/../root1/s.txt", "../../../../../../etc/passwd", "file://./../etc/passwd",
		"file://root/../secret.txt", "file://../etc/passwd", "file://{T}/root/.../../../secret.txt",
		"file://{T}/root/self/../../secret.txt",
		// Encodings of dots and slashes.
		"file://{T}/root/%2e%2e/root1/s.txt", "file://{T}/root/%2E%2E%2Froot1/s.txt", "file://{T}/root/.%2e/secret.txt",
		"file://{T}/root/%2e./secret.txt", "file://{T}/root/..%2fsecret.txt",
		"file://{T}/root/..%2Fsecret.txt", "file://{T}/root%2f..%2fsecret.txt", "file://{T}/root/%2e%2e%2fsecret.txt",
		"file://{T}/root/%2E%2e%2Fsecret.txt", "%2e%2e/%2e%2e/etc/passwd",
		"file://{T}/root/sub/%2e%2e/%2e%2e/secret.txt", "file://%2e%2e/etc/passwd", "file:///%2e%2e/etc/passwd",
		"file:///%65tc/passwd", "file:///etc%2fpasswd", "file://%2Fetc%2Fpasswd",
		"file://localhost/%2e%2e/etc/passwd", "file://{T}/root/%2e%2e", "file://{T}/root/%2e%2e/",
		"file://{T}%2f%72oot1/s.txt", "file://{T}/%73ecret.txt",
		// Queries and fragments.
		"file://{T}/secret.txt?x", "file://{T}/secret.txt#x", "file://{T}/root/../secret.txt?{T}/root/f.txt",
		"file://{T}/root1/s.txt#{T}/root/f.txt", "file://?x", "file://#x", "?", "#", "file:///?/f.txt",
		"file://{T}/?/root/f.txt",
		// Hosts and users: missing directories of the project (RES-80).
		"file://host/etc/passwd", "file://127.0.0.1/etc/passwd", "file://[::1]/etc/passwd",
		"file://user@localhost/etc/passwd", "file://localhost:80/etc/passwd", "file://localhost.evil/etc/passwd",
		"file://host{T}/root/f.txt", "file://localhost", "file://LOCALHOST", "file://evil.example/share/x",
		"file://%6cocalhost/etc/passwd", "file://user:pw@host/x",
		// Windows forms: drives, shares, devices.
		"file:///C:/Windows/win.ini", "file://C:/Windows/win.ini", "file:///c:/x", "C:/Windows/win.ini",
		"C:\\Windows\\win.ini", "\\\\host\\share\\x", "//host/share/x", "file:////host/share/x",
		"file://\\\\host\\share", "\\\\?\\C:\\x", "\\\\.\\pipe\\x", "file:///D|/x", "file://{T}\\root\\f.txt",
		"file://{T}/root\\..\\secret.txt", "..\\secret.txt", "CON", "NUL", "file:///c:", "file:///C:/../etc/passwd",
		// Schemes.
		"file:{T}/root/f.txt", "file:/etc/passwd", "file:", "http://{T}/root/f.txt", "https:///etc/passwd",
		"git+https://x/y", "ftp://{T}/root/f.txt", "files://{T}/root/f.txt", "file+x://{T}/root/f.txt",
		" file://{T}/root/f.txt", "file ://{T}/root/f.txt",
		"file//{T}/root/f.txt", "file://file://{T}/root/f.txt", "jar:file://{T}/root/f.txt!/x",
		"view-source:file://{T}/root/f.txt", "javascript:alert(1)", "data:text/plain,x",
		"php://filter/resource=/etc/passwd",
		// Links that lead outside (RES-84): first, last, in between, chained, dangling.
		"file://{T}/root/esc", "file://{T}/root/escrel", "file://{T}/root/dirlink", "file://{T}/root/dirlink/",
		"file://{T}/root/dirlink/s.txt", "file://{T}/root/dirlinkabs/s.txt", "file://{T}/root/twice",
		"file://{T}/root/sub/out",
		"file://{T}/root/indir/out", "file://{T}/root/dirabs/out", "file://{T}/root/parent",
		"file://{T}/root/parent/secret.txt", "file://{T}/root/parent/root1/s.txt", "file://{T}/root/slash/etc/passwd",
		"file://{T}/root/slash{T}/secret.txt",
		"file://{T}/root/slash", "file://{T}/root/danglingout", "file://{T}/root/danglingdir",
		"file://{T}/root/danglingdir/x", "file://{T}/root/viadir", "file://{T}/root/viafile", "file://{T}/root/vialink",
		"file://{T}/root/sneaky",
		"file://{T}/root/self/escrel", "file://{T}/root/parent/rootlink/esc", "file://{T}/rootlink/esc",
		"file://{T}/rootlink/../secret.txt", "file://{T}/root/null", "file://{T}/root/procroot/etc/passwd",
		"file://{T}/root/cwd/go.mod", "file://{T}/root/cwd",
		"file://{T}/root/%65sc", "file://{T}/root/esc?x", "file://{T}/root/esc#f.txt", "root/esc",
		"file://{T}/root/loop", "file://{T}/root/loopa", "file://{T}/root/loop/x", "file://{T}/other/back/esc",
		"file://{T}/other/dir/x",
		// Files of the system.
		"file:///proc/self/environ", "file:///proc/self/fd/0", "file:///proc/self/root{T}/root/../secret.txt",
		"file:///dev/null", "file:///dev/zero", "file:///dev/stdin", "file:///dev/fd/0", "file:///sys/kernel",
		"/proc/1/mem",
		// Shell, home and globs are not expanded.
		"~", "~root/x", "$HOME/x", "file://{T}/*/s.txt", "file://{T}/root[1]/s.txt",
		"file://{T}/{root1,root}/s.txt", "file://{T}/r*t/f.txt", "`id`", "$(id)", "; cat /etc/passwd", "|x", "-",
		// Unicode that looks like dots and slashes.
		"file://{T}/\u2025/secret.txt", "file://{T}\u2215root/f.txt", "file://{T}/root\u200b/f.txt",
		"file://{T}/ROOT/../secret.txt", "file://{T}/r\u00f6ot/f.txt", "file:\u2215\u2215{T}/root/f.txt",
		"\ufefffile://{T}/root/f.txt", "file://{T}/root\r/f.txt", "file://{T}/root\t/f.txt",
		"file://{T}/\xc0\xae\xc0\xae/secret.txt",
	},

	// Below the root, but not readable files.
	"!3": {
		"file://{T}/root", "file://{T}/root/", "file://{T}/root/.", "file://{T}/root/sub", "file://{T}/root/none.txt",
		"file://{T}/root/nodir/none.txt", "file://{T}/root/fifo", "file://{T}/root/fifo/", "file://{T}/root/dangling",
		"file://{T}/root/dangling/x",
		"file://{T}/root/indir", "file://{T}/root/self", "file://{T}/root/f.txt/x", "file://{T}/root/f.txt%20",
		"file://{T}/root/f.txt ", "file://{T}/root/ f.txt", "file://{T}/root/f.txt\n", "file://{T}/root/f.txt%0a",
		"file://{T}/root/f.txt.", "file://{T}/root/f.tx",
		"file://{T}/root/?f.txt", "file://{T}/root?/s.txt", "file://{T}/root/#f.txt", "file://{T}/root?f.txt",
		"file://{T}/root#", "file://{T}/rootlink", "file://{T}/root/sub?x", "file://{T}/root/%zz", "file://{T}/root/%",
		"file://{T}/root/%2", "file://{T}/root/%u002e",
		// Escapes are decoded only once.
		"file://{T}/root/%252e%252e/secret.txt", "file://{T}/root/%252e%252e%252fsecret.txt",
		"file://{T}/root/..%252fsecret.txt", "file://{T}/root/%25%32%65%25%32%65/secret.txt",
		"file://{T}/root/%252566.txt",
		// On a POSIX system a backslash is a letter.
		"file://{T}/root/..\\secret.txt", "file://{T}/root/..%5csecret.txt", "file://{T}/root/..\\..\\etc\\passwd",
		"file://{T}/root/sub\\g.txt", "file://{T}/root/\\\\host\\share", "file://{T}/root/C:/x",
		// Patterns are not expanded.
		"file://{T}/root/*.txt", "file://{T}/root/%3F.txt", "file://{T}/root/[f].txt", "file://{T}/root/f.{txt,md}",
		"file://{T}/root/~/x", "file://{T}/root/~root", "file://{T}/root/$PWD", "file://{T}/root/**",
		"file://{T}/root/`id`",
		// Other spellings of the same letters, overlong forms, full-width dots.
		"file://{T}/root/F.TXT", "file://{T}/root/e\u0301.txt", "file://{T}/root/\u2025/secret.txt",
		"file://{T}/root/\uff0e\uff0e/secret.txt", "file://{T}/root/%c0%ae%c0%ae/secret.txt",
		"file://{T}/root/%c0%af..%c0%afsecret.txt", "file://{T}/root/%ef%bc%8e%ef%bc%8e/secret.txt",
		"file://{T}/root/\u2215etc\u2215passwd", "file://{T}/root/%e2%80%a5/secret.txt",
		"file://{T}/root/..;/secret.txt", "file://{T}/root/..%3b/secret.txt", "file://{T}/root/..%20/secret.txt",
		"file://{T}/root/.. /secret.txt", "file://{T}/root/..%0d/secret.txt",
		"file://{T}/root/....//secret.txt", "file://{T}/root/....//....//secret.txt", "file://{T}/root/f.txt:stream",
		"file://{T}/root/f.txt::$DATA", "file://{T}/root/file:///etc/passwd", "file://{T}/root/http://x",
		"file://{T}/root/dev/null",
		"file://{T}/root/fifo?x", "file://{T}/root/{path}", "file://{T}/root/${MCPBASH_PROJECT_ROOT}",
	},

	// Not a URI of a file at all (RES-81).
	"!4": {
		"~/x", "file://~/x", "%7e/x", // home is not expanded (E-12)
		"", "\x00", "file://{T}/root/f.txt\x00", "file://{T}/root/f.txt%00", "file://{T}/root/f.txt%00.png",
		"file://{T}/root/%00", "file://%00", "%00", "file://{T}/root/f.txt\x00.png", "file://{T}/secret.txt%00f.txt",
		"file://{T}/root\x00/../secret.txt",
		"file://{T}/root/f.txt?%00", "file://{T}/root/f.txt#\x00",
	},
}

// RES-80 to RES-84: hostile URIs have the expected results.
func TestHostileURIs(t *testing.T) {
	dir := place(t)
	p := reader(dir, "{T}/root")
	n := 0
	for want, uris := range hostile {
		for _, uri := range uris {
			uri = strings.ReplaceAll(uri, "{T}", dir)
			n++
			if got := outcome(t, p, uri); got != want {
				t.Errorf("%q: %q, want %q", uri, got, want)
			}
		}
	}
	if n < 200 {
		t.Errorf("%d cases are too few", n)
	}
	t.Logf("%d URIs", n)
}

// With other roots, every hostile URI still reads nothing outside them (RES-82, RES-90).
func TestRoots(t *testing.T) {
	dir := place(t)
	link := filepath.Join(dir, "filelink")
	if err := os.Symlink("root/f.txt", link); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ roots, uri, want string }{
		{"{T}/root", "{T}/root/f.txt", "hello\n"},
		{"{T}/root|{T}/other", "{T}/other/back/f.txt", "hello\n"},
		{"{T}/root/f.txt", "{T}/root/f.txt", "hello\n"}, // a root may be a file
		{"{T}/root/f.txt", "{T}/root/inlink", "hello\n"},
		{"{T}/root/f.txt", "{T}/root/empty", "!2"},
		{"{T}/root/f.txt", "{T}/root/f.txt/x", "!3"},
		{"{T}/filelink", "{T}/root/f.txt", "hello\n"},
		{"{T}/filelink", "{T}/filelink", "hello\n"},
		{"{T}/rootlink", "{T}/root/f.txt", "hello\n"},
		{"{T}/rootlink", "{T}/rootlink/f.txt", "hello\n"},
		{"{T}/rootlink", "{T}/rootlink/esc", "!2"},
		{"/", "{T}/root/f.txt", "hello\n"}, {"/", "{T}/root/inabs", "hello\n"}, {"/", "{T}/root/round", "hello\n"},
		{"/", "{T}/none", "!3"}, {"/", "/", "!3"}, {"/", "/dev/null", "!3"},
		{"{T}/none|{T}/root", "{T}/root/f.txt", "hello\n"},
		{"{T}/root/sub|{T}/root", "{T}/root/sub/g.txt", "g"},
		{"{T}/root/sub", "{T}/root/f.txt", "!2"}, {"{T}/root/sub", "{T}/root/indir/g.txt", "g"},
		{"{T}/root/fifo", "{T}/root/fifo", "!3"},
		// No usable root: every path is denied, existing or not.
		{"", "{T}/root/f.txt", "!2"}, {"{T}/nonexist", "{T}/root/f.txt", "!2"},
		{"{T}/nonexist", "{T}/nonexist/x", "!2"}, {"{T}/nonexist", "{T}/nonexist", "!2"},
		// Glob metacharacters are literal.
		{"{T}/root[1]", "{T}/root1/s.txt", "!2"}, {"{T}/root?", "{T}/root1/s.txt", "!2"},
		{"{T}/*", "{T}/root1/s.txt", "!2"}, {"{T}/root*", "{T}/root/f.txt", "!2"},
	} {
		if got := outcome(t, reader(dir, tc.roots), strings.ReplaceAll(tc.uri, "{T}", dir)); got != tc.want {
			t.Errorf("%s %s: %q, want %q", tc.roots, tc.uri, got, tc.want)
		}
	}
	for _, roots := range []string{"", "{T}/nonexist", "{T}/root/f.txt", "{T}/root/sub", "{T}/rootlink",
		"{T}/root/fifo", "{T}/root/loop"} {
		p := reader(dir, roots)
		for _, uris := range hostile {
			for _, uri := range uris {
				outcome(t, p, strings.ReplaceAll(uri, "{T}", dir)) // outcome checks for the canary
			}
		}
	}
}
