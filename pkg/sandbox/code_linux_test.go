package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
)

// call runs code as the script of the tool with a name.
func (s *scene) call(name string, d access.Declaration, text string, rootDirs ...string) script.Result {
	s.t.Helper()
	sub := &Subject{Name: "Tool '" + name + "'", Script: s.tool() + "/tool.sh", Needs: d}
	for _, dir := range rootDirs {
		sub.Roots = append(sub.Roots, roots.Root{URI: "file://" + dir, Path: dir})
	}
	h, err := s.sandbox.ConfineTool(sub)
	if err != nil {
		s.t.Fatal(err)
	}
	defer h.End()
	spec := script.Spec{
		Argv: []string{"bash", "-c", text}, Dir: s.project, Timeout: 2 * time.Minute, Env: slices.Clone(s.env),
	}
	apply(h, &spec)
	return s.runner.Run(context.Background(), spec)
}

// declares is a declaration with entries of "confine".
func declares(letters string, x access.Extras) access.Declaration {
	d := needs(letters)
	d.Extras = x
	return d
}

// mkdir makes directories.
func (s *scene) mkdir(paths ...string) {
	s.t.Helper()
	for _, path := range paths {
		if err := os.MkdirAll(path, 0o755); err != nil {
			s.t.Fatal(err)
		}
	}
}

// link makes a symbolic link.
func (s *scene) link(target, path string) {
	s.t.Helper()
	if err := os.Symlink(target, path); err != nil {
		s.t.Fatal(err)
	}
}

// later has confinements made anew, as after a second.
func (s *scene) later() {
	s.sandbox.guarded = nil
	for _, private := range s.sandbox.private.of {
		private.made.Store(nil)
	}
}

// warned reports whether a logged line contains a text.
func (s *scene) warned(text string) bool {
	return slices.ContainsFunc(s.logged, func(line string) bool { return strings.Contains(line, text) })
}

// samples returns files of the table of code in the scene: of each row all that it names, and of a
// folder something in it. The rows that are elsewhere are given places in the scene.
func (s *scene) samples() map[string]string {
	s.mkdir(s.project+"/scripts", s.dir+"/bin", s.dir+"/venv/bin")
	s.put(s.project+"/start.sh", "")
	s.put(s.dir+"/venv/bin/own", "#!/bin/sh\n")
	s.sandbox = New(func() Config {
		c := s.sandbox.Config
		p := *c.Project
		p.Env = p.Env.Clone()
		p.Env["PATH"] += ":" + s.dir + "/bin"
		c.Project, c.Sourced = &p, []string{s.dir + "/sourced"}
		c.Listed = func() ([]Listed, error) {
			return []Listed{
				{Script: s.project + "/scripts/complete"}, {Tool: "x", Script: s.tool() + "/program",
					Needs: declares("", access.Extras{Exec: []string{s.dir + "/venv/bin/own"}})},
			}, nil
		}
		return c
	}())
	list := map[string]string{}
	for kind, row := range code.Rows {
		name := fmt.Sprintf("%d, %s", kind, row.What)
		switch row.Place {
		case code.Listed:
			list[name] = s.project + "/scripts/complete"
		case code.Chosen:
			list[name] = s.dir + "/sourced"
		case code.Repository:
			list[name] = s.project + "/.git/hooks/pre-commit"
		case code.Installation:
			list[name] = s.dir + "/sdk/tool-sdk.sh"
		case code.Private:
			list[name] = s.sandbox.State.Dir + "/new"
		case code.Search:
			list[name] = s.dir + "/bin/bash"
		case code.Used:
			list[name] = s.dir + "/venv/lib/site.py"
		default:
			locations := row.Locations(s.sandbox.Project)
			if len(locations) == 0 {
				s.t.Errorf("row %s is nowhere", name)
			}
			for _, path := range locations {
				base := filepath.Base(path)
				if row.Paths == nil || slices.Contains([]string{"config", "lib", ".mcp-bash"}, base) {
					path += "/sub/new.completion.sh"
				}
				list[name+", "+base] = path
			}
		}
	}
	return list
}

// A confined script cannot create, change, remove or replace a file in the table of code below a root. It can
// change the files next to it (CF-14).
func TestTableIsNotWritten(t *testing.T) {
	withLandlock(t)
	for _, there := range []bool{false, true} {
		s := newScene(t, "declared")
		samples := s.samples()
		s.mkdir(s.root+"/made", s.project+"/notes")
		s.put(s.root+"/file", "x")
		d := needs("E")
		d.Write = []string{"."}
		try := func(what, path string, want bool, attempts ...string) {
			t.Helper()
			code := "P='" + path + "'\n"
			for i, attempt := range attempts {
				code += fmt.Sprintf("( %s ) >/dev/null 2>&1 && echo %d\n", attempt, i)
			}
			res := s.call("own", d, code+"exit 0", s.dir)
			s.wants(what, res, true)
			for i, attempt := range attempts {
				if got := slices.Contains(strings.Fields(string(res.Stdout)), strconv.Itoa(i)); got != want {
					t.Errorf("%s, there: %t: %s %s: succeeded: %t", what, there, attempt, path, got)
				}
			}
		}
		for what, path := range samples {
			if path == s.project+"/start.sh" && !there {
				continue // it is there to fit a pattern
			}
			missing := path // the first missing part of the path
			if there {
				s.mkdir(filepath.Dir(path))
				s.put(path, "x")
				try(what, path, false, `echo x >"$P"`, `"$TRY" rm "$P"`, `"$TRY" mv "$P" "$ROOT/away"`,
					`"$TRY" mv "${P%/*}" "$ROOT/away"`)
			} else {
				for parent := filepath.Dir(path); ; parent = filepath.Dir(parent) {
					if _, err := os.Stat(parent); err == nil {
						break
					}
					missing = parent
				}
			}
			try(what, missing, false, `echo x >"$P"`, `"$TRY" mkdir "$P"`, `"$TRY" mv "$ROOT/made" "$P"`,
				`"$TRY" mv "$ROOT/file" "$P"`, `"$TRY" ln "$ROOT/file" "$P"`, `"$TRY" symlink "$ROOT/file" "$P"`)
		}
		for _, path := range []string{
			s.root + "/new", s.project + "/notes/new", s.project + "/sub/new", s.project + "/file",
		} {
			try("no code", path, true, `echo x >"$P"`)
		}
	}
}

// A confined script cannot write to a listed completion script, also through a link, and cannot replace the
// link. If the list is not available, it cannot write to the project (CF-14).
func TestListedScripts(t *testing.T) {
	withLandlock(t)
	s := newScene(t, "declared")
	s.mkdir(s.project+"/a/deep", s.project+"/b")
	s.link("../b", s.project+"/a/link")
	s.put(s.project+"/b/complete", "")
	listed := []Listed{{Script: s.project + "/a/link/complete"}}
	var failure error
	s.sandbox.Listed = func() ([]Listed, error) { return listed, failure }
	edit := func(attempt string, want bool) {
		t.Helper()
		s.later()
		s.wants(attempt, s.call("own", needs("E"), attempt, s.project), want)
	}
	edit(`echo x >>"$PROJECT/b/complete"`, false)
	edit(`"$TRY" rm "$PROJECT/a/link"`, false)
	edit(`"$TRY" mv "$PROJECT/a" "$PROJECT/c"`, false)
	edit(`echo x >"$PROJECT/a/deep/new" && echo x >>"$PROJECT/file"`, true)
	failure = errors.New("no list")
	edit(`echo x >>"$PROJECT/file"`, false)
	edit(`echo x >"$PROJECT/sub/new"`, false)
	edit(`cat "$PROJECT/file"`, true)
}

// Two names of one file are one file (CF-60).
func TestHardLinks(t *testing.T) {
	withLandlock(t)
	s := newScene(t, "declared")
	s.put(s.project+"/mcpb.conf", "x")
	if err := os.Link(s.project+"/mcpb.conf", s.project+"/copy"); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(s.project+"/mcpb.conf", s.other+"/copy"); err != nil {
		t.Fatal(err)
	}
	s.wants("in the project", s.call("own", needs("E"), `echo x >>"$PROJECT/copy"`, s.project), false)
	s.wants("a root", s.call("own", needs("E"), `echo x >>"$OTHER/copy"`, s.other+"/copy"), false)
	d := declares("", access.Extras{Write: []string{s.other + "/copy"}})
	s.wants("declared", s.call("own", d, `echo x >>"$OTHER/copy"`), false)
}

// The number of remembered roots is bounded; more count as the root of all files (CF-61).
func TestManyRoots(t *testing.T) {
	var m seen
	for i := range maxRoots + 10 {
		path := fmt.Sprintf("/root/%d", i)
		m.add(&Subject{Roots: roots.List{{Path: path}}})
	}
	if n := len(m.roots); n != maxRoots+1 || m.roots[maxRoots] != "/" || m.count != n+1 { // and the tool
		t.Errorf("%d roots, %d changes, the last %s", n, m.count, m.roots[n-1])
	}
}

// A path that leads over too many links, or in a circle, leads nowhere (CF-61).
func TestFollow(t *testing.T) {
	s := newScene(t, "declared")
	s.link("a", s.other+"/a")
	last := "file"
	for i := range maxLinks + 1 {
		name := fmt.Sprintf("link%d", i)
		s.link(last, filepath.Join(s.other, name))
		last = name
	}
	s.link(s.root+"/sub/../file", s.other+"/up")
	for name, want := range map[string]string{
		"file": "other/file", "link0": "other/file", "link39": "other/file", "link40": "", "a": "", "none/x": "",
		"file/x": "", "up": "root/file", "../other/./sub//": "other/sub",
	} {
		v, err := newView()
		if err != nil {
			t.Fatal(err)
		}
		real, _, err := v.follow(s.other + "/" + name)
		if want == "" && err == nil || want != "" && (err != nil || real != s.dir+"/"+want) {
			t.Errorf("%s: %s, %v", name, real, err)
		}
	}
}

// inNamespace runs a test again in a new mount namespace, which allows mounts. It returns true there.
func inNamespace(t *testing.T) bool {
	t.Helper()
	const variable = "MCPBASH_TEST_NAMESPACE"
	if os.Getenv(variable) != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), variable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &ended):
		t.Skipf("no mount namespace can be made here: %v", err)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// A bind mount of a project, of a folder above it, or of a part of it, is the project (CF-60).
func TestBindMounts(t *testing.T) {
	withLandlock(t)
	if !inNamespace(t) {
		return
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
	s := newScene(t, "declared")
	s.mkdir(s.project+"/server.d", s.project+"/notes")
	s.put(s.project+"/server.d/env.sh", "SECRET=1\n")
	s.put(s.project+"/mcpb.conf", "x\n")
	bind := func(source, point string) string {
		point = filepath.Join(s.dir, "mounts", point)
		if info, err := os.Stat(source); err == nil && info.IsDir() {
			s.mkdir(point)
		} else {
			s.mkdir(filepath.Dir(point))
			s.put(point, "")
		}
		if err := syscall.Mount(source, point, "", syscall.MS_BIND, ""); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { syscall.Unmount(point, syscall.MNT_DETACH) })
		return point
	}
	whole, part := bind(s.project, "all/whole"), bind(s.tool(), "parts/own")
	file := bind(s.project+"/mcpb.conf", "files/conf")
	server := bind(s.project+"/server.d", "settings/server")
	for _, c := range []struct {
		root, attempt string
		succeed       bool
	}{
		{whole, `echo x >>"$1/tools/own/tool.sh"`, false},
		{whole, `echo x >"$1/mcpb.conf"`, false},
		{whole, `echo x >"$1/new"`, false},
		{whole, `cat "$1/server.d/env.sh"`, false},
		{whole, `echo x >"$1/notes/new" && cat "$1/file"`, true},
		{filepath.Dir(whole), `echo x >>"$1/whole/tools/own/tool.sh"`, false},
		{filepath.Dir(whole), `cat "$1/whole/server.d/env.sh"`, false},
		{part, `echo x >>"$1/tool.sh"`, false},
		{part, `echo x >"$1/new"`, false},
		{filepath.Dir(part), `echo x >>"$1/own/tool.sh"`, false},
		{file, `echo x >>"$1"`, false},
		{filepath.Dir(file), `echo x >>"$1/conf"`, false},
		{server, `cat "$1/env.sh"`, false},
		{filepath.Dir(server), `cat "$1/server/env.sh"`, false},
	} {
		s.wants(c.root+": "+c.attempt, s.call("own", needs("E"), "set -- '"+c.root+"'\n"+c.attempt, c.root), c.succeed)
		d := declares("", access.Extras{Write: []string{c.root}})
		s.wants(c.root+", declared: "+c.attempt, s.call("other", d, "set -- '"+c.root+"'\n"+c.attempt), c.succeed)
	}
}

// Mounts are read as the kernel writes them; other lines are passed over (CF-60).
func TestParseMounts(t *testing.T) {
	list := parseMounts([]byte(`22 27 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
36 22 8:1 /home/me/my\040project /mnt/a\134b rw - ext4 /dev/sda1 rw
37 22 0:31 /@home /home rw - btrfs /dev/sdb rw
rubbish
38 22 8:1 /x\9 /y rw
`))
	want := mountTable{{"8:1", "/", "/", "ext4"}, {"8:1", "/home/me/my project", `/mnt/a\b`, "ext4"},
		{"0:31", "/@home", "/home", "btrfs"}, {"8:1", `/x\9`, "/y", ""}}
	if !slices.Equal(list, want) {
		t.Errorf("%+v", list)
	}
	for path, want := range map[string][]string{
		"/srv/x":                   nil,
		`/mnt/a\b/tools`:           {"/home/me/my project/tools"},
		"/home/me":                 nil, // of another file system
		"/mnt":                     nil,
		"/home/me/my project/tool": nil,
	} {
		if got := list.aliases(path); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func FuzzParseMounts(f *testing.F) {
	f.Add([]byte(`36 22 8:1 /a\040b /mnt/\134 rw - ext4 x rw`), "/mnt/x")
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		list := parseMounts(text)
		list.aliases(path)
	})
}
