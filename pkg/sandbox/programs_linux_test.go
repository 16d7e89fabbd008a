package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/access"
)

// An entry of confine.exec is allowed if it is an executable file, and none of the server's own (CF-61).
func TestWhatExecTakes(t *testing.T) {
	withLandlock(t)
	s := newScene(t, "declared")
	s.mkdir(s.project + "/server.d")
	s.put(s.project+"/server.d/env.sh", "#!/usr/bin/env bash\necho secret\n")
	s.put(filepath.Join(s.sandbox.State.Dir, "program"), "#!/usr/bin/env bash\necho secret\n")
	if err := os.WriteFile(s.other+"/plain", []byte("plain\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(s.other+"/pipe", 0o755); err != nil {
		t.Fatal(err)
	}
	s.link(s.other, s.project+"/folder")
	for _, c := range []struct{ entry, attempt, says string }{
		{s.other, `cat "$OTHER/file"`, "is not an executable file"},
		{"./folder", `cat "$OTHER/file"`, "is not an executable file"},
		{"/", `cat "$OTHER/file"`, "is not an executable file"},
		{"/etc", `cat /etc/fstab`, "is not an executable file"},
		{s.other + "/plain", `cat "$OTHER/plain"`, "is not an executable file"},
		{s.other + "/pipe", `[[ -e $OTHER/pipe ]] && exec 3<>"$OTHER/pipe"`, "is not an executable file"},
		{"server.d/env.sh", `cat "$PROJECT/server.d/env.sh"`, "is one of the server's own files"},
		{filepath.Join(s.sandbox.State.Dir, "program"), `cat "$STATE/program"`, "is one of the server's own files"},
		{"./nothing", `cat "$PROJECT/nothing"`, "is not there"},
	} {
		d := declares("", access.Extras{Exec: []string{c.entry}})
		s.wants(c.entry+": "+c.attempt, s.call("own", d, c.attempt), false)
		if says := fmt.Sprintf("Tool 'own': confine.exec: %s %s; left out", c.entry, c.says); !s.warned(says) {
			t.Errorf("it does not say %q but %q", says, s.logged)
		}
	}
}

// A declared program makes its installation directory readable, except secrets (CF-12, CF-15).
func TestPrefixHoldsSecrets(t *testing.T) {
	withLandlock(t)
	s := newScene(t, "declared")
	prefix := s.other
	s.mkdir(prefix + "/bin")
	c := s.sandbox.Config
	var err error
	env := project.Env{"MCPBASH_STATE_DIR": prefix + "/state"}
	if c.State, _, err = project.NewState(env, &c.Project.Settings); err != nil {
		t.Fatal(err)
	}
	s.sandbox = New(c)
	s.put(prefix+"/state/secret", "x\n")
	s.put(prefix+"/bin/own", "#!/usr/bin/env bash\necho started\n")
	s.put(prefix+"/data", "x\n")
	d := declares("", access.Extras{Exec: []string{prefix + "/bin/own"}})
	s.wants("start it", s.call("own", d, prefix+"/bin/own && cat "+prefix+"/data"), true)
	s.wants("read a secret", s.call("own", d, `cat "$OTHER/state/secret"`), false)
}

// A declared program that npm installed reads and starts the packages of its node_modules, and nothing else
// (CF-15).
func TestPackages(t *testing.T) {
	withLandlock(t)
	s := newScene(t, "declared")
	packages := s.other + "/node_modules"
	s.mkdir(packages + "/tea/node_modules/leaf")
	s.mkdir(packages + "/.bin")
	s.put(packages+"/tea/node_modules/leaf/leaf.sh", "#!/usr/bin/env bash\n"+packages+"/pot/pot.sh\n")
	s.link(packages+"/tea/node_modules/leaf/leaf.sh", packages+"/.bin/leaf")
	s.mkdir(packages + "/pot")
	s.put(packages+"/pot/pot.sh", "#!/usr/bin/env bash\necho started\n")
	s.put(s.other+"/aside", "#!/usr/bin/env bash\necho started\n")
	d := declares("", access.Extras{Exec: []string{packages + "/.bin/leaf"}})
	s.wants("start it and what it starts", s.call("own", d, packages+"/.bin/leaf"), true)
	s.wants("start a program outside of it", s.call("own", d, s.other+"/aside"), false)
}

// Directories that many packages share bring nothing (CF-15).
func TestInstallation(t *testing.T) {
	s := newScene(t, "declared")
	// The home directory is also found through a link. Other users have home directories, too.
	real := t.TempDir()
	linked := filepath.Join(t.TempDir(), "home")
	s.link(real, linked)
	s.sandbox.homes = func() fsys.Homes { return fsys.HomesOf(linked) }
	for program, want := range map[string]string{
		real + "/bin/own": "", linked + "/bin/own": "", "/home/somebody/bin/own": "", "/root/bin/own": "",
		"/usr/bin/cat": "", "/usr/local/bin/own": "", "/opt/bin/own": "", "/bin/cat": "", "/snap/bin/own": "",
		"/home/somebody/.local/bin/own": "", s.project + "/bin/own": "", "/opt/own/run": "",
		"/usr/local/go/bin/go": "/usr/local/go", "/opt/own/bin/own": "/opt/own",
		"/usr/lib/node_modules/npm/bin/npm-cli.js": "/usr/lib/node_modules",
		"/a/node_modules/b/node_modules/c/c.js":    "/a/node_modules",
	} {
		if got := s.sandbox.installation(program, nil); got != want {
			t.Errorf("%s: %q, not %q", program, got, want)
		}
	}
}

// If a tool exchanges a link, a program or a folder, another tool gains no access, at the next call and after a restart
// (CF-17, CF-61).
func TestExchangedLinks(t *testing.T) {
	withLandlock(t)
	writes := declares("", access.Extras{Write: []string{"~/sub"}})
	exec := func(entry string) access.Extras { return access.Extras{Exec: []string{entry}} }
	read := access.Extras{Read: []string{"~/sub/data"}}
	for _, c := range []struct {
		name            string
		writes          access.Declaration
		reads           access.Extras
		exchange, abuse string
		says            string
	}{
		{"a declared program", writes, exec("~/sub/prog"),
			`"$TRY" rm "$SUB/prog" && "$TRY" symlink / "$SUB/prog"`, `cat "$OTHER/file"`, "could lead anywhere"},
		{"the folder of one", writes, exec("~/sub/bin/prog"),
			`"$TRY" mv "$SUB/bin" "$SUB/away" && "$TRY" symlink "$OTHER/bin" "$SUB/bin"`, `"$OTHER/bin/prog"`,
			"could lead anywhere"},
		{"the program itself", writes, exec("~/sub/prog"),
			`printf '#!%s\n' "$OTHER/bin/prog" >"$SUB/prog"`, `cat "$OTHER/bin/prog"`, "anything could be started there"},
		{"a declared path", writes, read,
			`"$TRY" rm "$SUB/data"; "$TRY" symlink "$OTHER" "$SUB/data"`, `cat "$OTHER/file"`, "could lead anywhere"},
		{"a path to write to", writes, access.Extras{Write: []string{"~/sub/data/x"}},
			`"$TRY" rm "$SUB/data"; "$TRY" symlink "$OTHER" "$SUB/data" && "$TRY" mkdir "$OTHER/x" || :`, `cat "$OTHER/x/y"`,
			"could lead anywhere"},
		{"a path below a root", needs("E"), read,
			`"$TRY" rm "$SUB/data"; "$TRY" symlink "$OTHER" "$SUB/data"`, `cat "$OTHER/file"`, "could lead anywhere"},
	} {
		s := newScene(t, "declared")
		sub := s.home + "/sub"
		s.env = append(s.env, "SUB="+sub)
		s.mkdir(sub+"/bin", s.other+"/bin", s.other+"/x")
		for _, file := range []string{sub + "/prog", sub + "/bin/prog", s.other + "/bin/prog", s.other + "/x/y"} {
			s.put(file, "#!/usr/bin/env bash\necho started\n")
		}
		s.put(sub+"/data", "x\n")
		s.sandbox.Listed = func() ([]Listed, error) {
			return []Listed{{Tool: "a", Script: s.tool() + "/tool.sh", Needs: c.writes}}, nil
		}
		victim := func(when string) {
			t.Helper()
			s.later()
			s.wants(c.name+", "+when+": "+c.abuse, s.call("b", declares("", c.reads), c.abuse, sub), false)
		}
		victim("before")
		s.wants(c.name+": "+c.exchange, s.call("a", c.writes, c.exchange, sub), true)
		victim("after")
		s.sandbox = New(s.sandbox.Config)
		victim("at a new start")
		if !s.warned(c.says) {
			t.Errorf("%s: logged %q", c.name, s.logged)
		}
	}
}

// Below a root no tool writes the programs that tools start, so they still start them: interpreters,
// declared programs, and those on PATH (CF-14, CF-61).
func TestProgramsBelowARoot(t *testing.T) {
	withLandlock(t)
	s := newScene(t, "declared")
	venv, bin := s.project+"/venv", s.root+"/bin"
	s.mkdir(venv+"/bin", bin)
	bash, err := filepath.EvalSymlinks("/bin/bash")
	if err != nil {
		t.Fatal(err)
	}
	s.link(bash, venv+"/bin/own")
	s.put(s.tool()+"/tool.sh", "#!"+venv+"/bin/own\necho started\n")
	s.put(s.project+"/sub/prog", "#!/usr/bin/env bash\necho started\n")
	s.put(bin+"/found", "#!/usr/bin/env bash\necho started\n")
	p := *s.sandbox.Project
	p.Env = p.Env.Clone()
	p.Env["PATH"] += ":" + bin
	c := s.sandbox.Config
	c.Project = &p
	d := declares("E", access.Extras{Exec: []string{"./sub/prog", "found"}})
	c.Listed = func() ([]Listed, error) {
		return []Listed{{Tool: "Tool 'own'", Script: s.tool() + "/tool.sh", Needs: d}}, nil
	}
	s.sandbox = New(c)
	s.env = append(s.env, "BIN="+bin, "VENV="+venv)
	for attempt, want := range map[string]bool{
		`"$OWN/tool.sh" && "$PROJECT/sub/prog" && "$BIN/found"`: true,
		`"$VENV/bin/own" -c :`:                     true,
		`echo x >"$PROJECT/sub/prog"`:              false,
		`"$TRY" mv "$PROJECT/sub" "$PROJECT/away"`: false,
		`echo x >"$BIN/found"`:                     false,
		`echo x >"$BIN/bash"`:                      false,
		`"$TRY" rm "$VENV/bin/own"`:                false,
		`echo x >"$VENV/pyvenv.cfg"`:               false,
		`echo x >"$ROOT/sub/new"`:                  true,
	} {
		s.wants(attempt, s.call("own", d, attempt, s.project, s.root), want)
	}
}

// The first line of a program that a tool could have written is not believed (CF-61).
func TestFirstLines(t *testing.T) {
	withLandlock(t)
	s := newScene(t, "declared")
	s.mkdir(s.other+"/bin", s.home+"/sub/own")
	s.put(s.other+"/bin/prog", "#!/bin/sh\n")
	s.put(s.other+"/key", "key\n")
	if err := os.Chmod(s.other+"/key", 0o600); err != nil {
		t.Fatal(err)
	}
	for name, line := range map[string]string{"a": "/bin/prog", "b": "/key", "c": "/bin"} {
		s.put(s.home+"/sub/"+name, "#!"+s.other+line+"\n")
		s.put(s.tool()+"/"+name, "#!"+s.other+line+"\n")
	}
	writes := declares("", access.Extras{Write: []string{"~/sub"}})
	s.sandbox.Listed = func() ([]Listed, error) {
		return []Listed{{Tool: "a", Script: s.tool() + "/tool.sh", Needs: writes}}, nil
	}
	read := `cat "$OTHER/bin/prog" || cat "$OTHER/key" || "$TRY" ls "$OTHER/bin"`
	for _, name := range []string{"a", "b", "c"} {
		d := declares("", access.Extras{Exec: []string{"~/sub/" + name}})
		s.wants("written: "+name, s.call(name, d, read), false)
		d = declares("", access.Extras{Exec: []string{"tools/own/" + name}})
		s.wants("not written: "+name, s.call(name+"2", d, read), name == "a") // only that is a program
	}
}

// Tools that share a script share nothing else: neither the private directory, nor the resolved paths of
// their declarations (CF-11, CF-17).
func TestToolsThatShareAScript(t *testing.T) {
	withLandlock(t)
	s := newScene(t, "declared")
	s.link(s.root+"/sub", s.home+"/link")
	s.put(s.root+"/sub/file", "x\n")
	a := declares("", access.Extras{Read: []string{"~/link"}})
	b := declares("", access.Extras{Read: []string{"~/file"}})
	s.wants("a writes", s.call("a", a, `echo x >"$TMPDIR/secret"`), true)
	s.wants("b looks for it", s.call("b", b, `cat "$TMPDIR/secret"`), false)
	s.wants("a looks for it", s.call("a", a, `cat "$TMPDIR/secret"`), true)
	if err := os.Remove(s.home + "/link"); err != nil {
		t.Fatal(err)
	}
	s.link(s.other, s.home+"/link")
	for range 2 {
		s.later()
		s.wants("b", s.call("b", b, `cat "$SCENE/home/file"`), true)
		s.later()
		s.wants("a", s.call("a", a, `cat "$OTHER/file"`), false)
	}
}
