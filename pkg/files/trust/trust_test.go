//go:build unix

package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/text/shell"
)

// withPrivateGroup sets our private group during a test. With -1, the user has no private group.
func withPrivateGroup(t *testing.T, group int) {
	known := knownAccounts
	t.Cleanup(func() { knownAccounts = known })
	knownAccounts = func() *accounts {
		a := *known()
		a.private = group
		return &a
	}
}

// makeTree creates files of our group. A name that ends in / is a directory. A name with @ and a target is a link.
func makeTree(t *testing.T, names ...string) (root string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Chmod(root, 0o755))
	for _, name := range names {
		name, target, isLink := strings.Cut(name, "@")
		path := filepath.Join(root, name)
		must(os.MkdirAll(filepath.Dir(path), 0o755))
		switch {
		case isLink:
			must(os.Symlink(strings.ReplaceAll(target, "{}", root), path))
		case strings.HasSuffix(name, "/"):
			must(os.MkdirAll(path, 0o755))
		default:
			must(os.WriteFile(path, nil, 0o755))
		}
	}
	must(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, -1, os.Getegid()))
	}))
	return root
}

// T-41, T-9: the script must be in its directory after links are followed.
func TestCheckScript(t *testing.T) {
	root := makeTree(t, "tools[1]/a/tool.sh", "tools1/a/tool.sh", "outside.sh", "else/where.sh",
		"tools[1]/in.sh@a/tool.sh", "tools[1]/full.sh@{}/tools[1]/a/tool.sh", "tools[1]/out.sh@../outside.sh",
		"tools[1]/off.sh@/bin/sh", "tools[1]/loop.sh@loop.sh", "tools[1]/gone.sh@a/none", "tools[1]/lost.sh@../none",
		"tools[1]/dir@a", "tools[1]/around@../tools[1]/a/../dir", "link@tools[1]", "away@else")
	tools := filepath.Join(root, "tools[1]")
	const missing = "missing"
	out := "leads out of " + shell.Quote(tools)
	for path, want := range map[string]string{
		"tools[1]/a/tool.sh": "", "tools[1]/in.sh": "", "tools[1]/full.sh": "", "tools[1]/dir/tool.sh": "",
		"tools[1]/around/tool.sh": "",
		"tools[1]/./a//tool.sh":   "", "link/a/tool.sh": "", "tools[1]/../tools[1]/a/tool.sh": "",
		"outside.sh": out, "tools[1]/out.sh": out, "tools[1]/off.sh": out, "tools1/a/tool.sh": out,
		"away/where.sh":          out,
		"tools[1]/../outside.sh": out, "tools[1]/../none.sh": out, "tools[1]/lost.sh": out, "tools[1]": out,
		"tools[1]/loop.sh": "too many symbolic links", "tools[1]/a/tool.sh/tool.sh": "not a directory",
		"tools[1]/a": missing, "tools[1]/none/tool.sh": missing, "tools[1]/gone.sh": missing,
	} {
		file := root + "/" + path
		if want == missing {
			want = errMissing.Error()
		} else if want != "" {
			want = shell.Quote(file) + " (" + want + ")"
		}
		expectError(t, path, CheckScript(root, tools, file), want)
	}
}

func expectError(t *testing.T, what string, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// T-41: every directory from the root of the project down to the script is checked, including those that links lead
// through.
func TestEveryDirectoryIsChecked(t *testing.T) {
	withPrivateGroup(t, -1)
	for _, name := range []string{"", "tools", "tools/a", "tools/a/b", "tools/a/b/tool.sh", "tools/links",
		"tools/links/sub"} {
		root := makeTree(t, "tools/a/b/tool.sh", "tools/links/sub/back@../../a", "tools/start@links/sub/back/b")
		script, open := filepath.Join(root, "tools/start/tool.sh"), filepath.Join(root, name)
		expectError(t, name, CheckScript(root, root+"/tools", script), "")
		for mode, want := range map[fs.FileMode]string{
			0o757:                 "mode 0757, others can write to it; run chmod o-w {}",
			0o755 | fs.ModeSticky: "",
			0o757 | fs.ModeSticky: "mode 1757, others can write to it; run chmod o-w {}",
			0o775:                 "mode 0775, group {g} can write to it; run chmod go-w {}",
			0o777:                 "mode 0777, group {g} can write to it; run chmod go-w {}",
		} {
			if err := os.Chmod(open, mode); err != nil {
				t.Fatal(err)
			}
			if want != "" {
				group := knownAccounts().group(os.Getegid())
				want = open + " (" + strings.NewReplacer("{}", open, "{g}", group).Replace(want) + ")"
			}
			expectError(t, fmt.Sprint(name, " ", mode), CheckScript(root, root+"/tools", script), want)
		}
	}
}

// T-41: directories above the project are checked only if a link leads through them. Other users may write to one of
// them if it is sticky.
func TestCheckBeginsAtTheRoot(t *testing.T) {
	top := makeTree(t, "open/project/tools@../other", "open/other/tool.sh", "open/else/tool.sh")
	root := filepath.Join(top, "open/project")
	check := func(dir string) error {
		dir = filepath.Join(top, "open", dir)
		return CheckScript(root, dir, dir+"/tool.sh")
	}
	os.Chmod(filepath.Join(top, "open"), 0o757)
	expectError(t, "elsewhere", check("else"), "")
	over := top + "/open (mode 0757, others can write to it; run chmod o-w " + top + "/open)"
	expectError(t, "over a link", check("project/tools"), over)
	os.Chmod(filepath.Join(top, "open"), 0o757|fs.ModeSticky)
	expectError(t, "over a link, sticky", check("project/tools"), "")
	os.Chmod(filepath.Join(top, "open/else"), 0o757|fs.ModeSticky)
	expectError(t, "elsewhere, sticky", check("else"),
		top+"/open/else (mode 1757, others can write to it; run chmod o-w "+top+"/open/else)")
}

// T-41: our private group may write, unless an access control list lets others write.
func TestPrivateGroup(t *testing.T) {
	root := makeTree(t, "tools/tool.sh")
	script := filepath.Join(root, "tools/tool.sh")
	check := func() error { return CheckScript(root, root+"/tools", script) }
	for _, path := range []string{root, root + "/tools", script} {
		os.Chmod(path, 0o775)
	}
	withPrivateGroup(t, os.Getegid())
	expectError(t, "umask 002", check(), "")
	os.Chmod(script, 0o777)
	expectError(t, "umask 000", check(), script+" (mode 0777, others can write to it; run chmod o-w "+script+")")
	os.Chmod(script, 0o775)
	if err := unix.Setxattr(script, "system.posix_acl_access", accessList, 0); err != nil {
		t.Skip("no access control lists here: ", err)
	}
	expectError(t, "access control list", check(),
		script+" (mode 0775, its access control list lets others write to it; run chmod go-w "+script+")")
	os.Chmod(script, 0o755)
	expectError(t, "access control list, remedied", check(), "")
}

// accessList lets user 12345 write. It has a version, then tag, permissions and id of the owner, that user, the
// group, the mask and others.
var accessList = []byte("\x02\x00\x00\x00" + "\x01\x00\x07\x00\xff\xff\xff\xff" + "\x02\x00\x07\x00\x39\x30\x00\x00" +
	"\x04\x00\x05\x00\xff\xff\xff\xff" + "\x10\x00\x07\x00\xff\xff\xff\xff" + "\x20\x00\x05\x00\xff\xff\xff\xff")

// An ownedBy is a file with another owner. Only root could create such a file.
type ownedBy struct {
	fs.FileInfo
	uid uint32
}

func (o ownedBy) Sys() any {
	st := *o.FileInfo.Sys().(*syscall.Stat_t)
	st.Uid = o.uid
	return &st
}

// T-41: files and links of other users fail, whatever their mode.
func TestOwner(t *testing.T) {
	root := makeTree(t, "tool.sh", "link@tool.sh", "sticky/")
	os.Chmod(filepath.Join(root, "sticky"), 0o777|fs.ModeSticky)
	us := os.Geteuid()
	theirs := "owned by uid 54321, not by root"
	if us != 0 {
		theirs = "owned by uid 54321, not by uid " + knownAccounts().user(us) + " or root"
	}
	for _, name := range []string{"tool.sh", "link", "sticky"} {
		info, err := os.Lstat(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for uid, want := range map[int]string{us: "", 0: "", 54321: theirs} {
			e, _ := errors.AsType[*InsecureError](distrust(name, ownedBy{info, uint32(uid)}, true, nobody))
			if e == nil && want != "" || e != nil && e.Reason != want {
				t.Errorf("%s of %d: %v, want %q", name, uid, e, want)
			}
		}
	}
}

// T-41: a private group is the primary group of one user, and has no other member.
func TestAccounts(t *testing.T) {
	const passwd = "root:x:0:0:root:/root:/bin/sh\nalice:x:1000:1000::/home/alice:/bin/sh\n"
	const group = "root:x:0:\nalice:x:1000:\nusers:x:100:alice,bob\n"
	for name, tc := range map[string]struct {
		passwd, group string
		want          int
	}{
		"private":               {passwd, group, 1000},
		"comments, empty lines": {"# here\n\n" + passwd, group + "\n# there", 1000},
		"a member of his own":   {passwd, "alice:x:1000:alice\n", 1000},
		"another name of his":   {passwd + "al:x:1000:1000::/:/bin/sh\n", "alice:x:1000:al,alice\n", 1000},
		"another member":        {passwd, "alice:x:1000:bob\n", -1},
		"under another name":    {passwd, group + "team:x:1000:bob\n", -1},
		"another's primary":     {passwd + "bob:x:1001:1000::/:/bin/sh\n", group, -1},
		"a shared one":          {"alice:x:1000:100::/:/bin/sh\n", group, -1},
		"no such group":         {passwd, "root:x:0:\n", -1},
		"no such user":          {"root:x:0:0:::\n", group, -1},
		"accounts elsewhere":    {passwd + "+::::::\n", group, -1},
		"groups elsewhere":      {passwd, group + "+:::\n", -1},
		"without a number":      {passwd + "bob:x::1001:::\n", group, -1},
		"damaged":               {passwd + "bob\n", group, -1},
		"damaged group":         {passwd + "bob:x:1001:?:::\n", group, -1},
		"nothing":               {"", "", -1},
	} {
		users, known := parseAccounts(tc.passwd)
		groups, complete := parseAccounts(tc.group)
		a := &accounts{users: users, groups: groups}
		got := -1
		if known && complete {
			got = a.privateGroup(1000)
		}
		if got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
	users, _ := parseAccounts(passwd)
	a := &accounts{users: users}
	if got := a.user(1000) + " " + a.user(7) + " " + a.group(0); got != "1000 (alice) 7 0" {
		t.Error(got)
	}
}

// R-144, T-31: CheckFile accepts neither links nor files that other users can change.
func TestCheckFile(t *testing.T) {
	withPrivateGroup(t, -1)
	root := makeTree(t, "server.d/policy.sh", "config.d/policy.sh", "other/server.d/policy.sh")
	dir := filepath.Join(root, "server.d")
	file := filepath.Join(dir, "policy.sh")
	check := func() error { return CheckFile(root, root, file) }
	expectError(t, "good", check(), "")
	for _, path := range []string{file, dir, root} {
		os.Chmod(path, 0o757)
		expectError(t, path, check(), path+" (mode 0757, others can write to it; run chmod o-w "+path+")")
		os.Chmod(path, 0o755)
	}
	os.Rename(file, file+".real")
	if err := check(); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for _, target := range []string{"policy.sh.real", "nowhere"} {
		os.Symlink(target, file)
		expectError(t, target, check(), file+" (symlink)")
		os.Remove(file)
	}
	unix.Mkfifo(file, 0o644)
	expectError(t, "FIFO", check(), file+" (not a regular file)")
	os.RemoveAll(dir)
	os.Symlink("config.d", dir)
	expectError(t, "linked directory", check(), dir+" (symlink)")
	// If the operator put the directory elsewhere, the check begins there.
	elsewhere := filepath.Join(root, "other/server.d")
	check = func() error { return CheckFile(filepath.Join(root, "config.d"), elsewhere, elsewhere+"/policy.sh") }
	os.Chmod(filepath.Join(root, "other"), 0o777)
	expectError(t, "elsewhere", check(), "")
	os.Chmod(elsewhere, 0o757)
	expectError(t, "elsewhere", check(),
		elsewhere+" (mode 0757, others can write to it; run chmod o-w "+elsewhere+")")
}

// BenchmarkCheckScript measures the check of each tool call.
func BenchmarkCheckScript(b *testing.B) {
	root, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	os.Chmod(root, 0o755)
	tools := filepath.Join(root, "tools")
	script := filepath.Join(tools, "hello", "tool.sh")
	os.MkdirAll(filepath.Dir(script), 0o755)
	os.WriteFile(script, nil, 0o755)
	b.ReportAllocs()
	for b.Loop() {
		if err := CheckScript(root, tools, script); err != nil {
			b.Fatal(err)
		}
	}
}

// R-144a: the texts of Brief.
func TestBrief(t *testing.T) {
	for want, e := range map[string]InsecureError{
		"DIR is group- or world-writable (fix: chmod g-w,o-w 'D')": {Path: "/p", Reason: "r", flaw: flawWritable},
		"DIR (why)": {Path: "/p", Reason: "why"},
		"DIR is a symlink (replace it with a regular file)": {Path: "/p/none", Reason: "r", flaw: flawLink},
		"DIR is not a regular file":                         {Path: "/p", Reason: "r", flaw: flawNotRegular},
	} {
		if got := e.Brief("DIR", "'D'"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
