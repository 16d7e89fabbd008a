package runtool

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/run/observe"
)

// accesses parses accesses: one on each line, such as "read /path" or "connect tcp 443", with an
// optional "by PROGRAM".
func accesses(text string) (list []observe.Access) {
	for line := range strings.Lines(text) {
		line, program, _ := strings.Cut(strings.TrimSpace(line), " by ")
		a := observe.Access{Program: program}
		for i, word := range strings.Fields(line) {
			switch {
			case i == 0 && word == "mkdir":
				a.Kind, a.Made = observe.Change, observe.Directory
			case i == 0 && word == "create":
				a.Kind, a.Made = observe.Change, observe.File
			case i == 0:
				a.Kind = observe.Kind(word)
			case strings.HasPrefix(word, "/"):
				a.Path = word
			case number(word) > 0:
				a.Port = number(word)
			default:
				a.Name = word
			}
		}
		if a.Kind != "" {
			list = append(list, a)
		}
	}
	return list
}

func many(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+"\n", i+1)
	}
	return b.String()
}

var here = &surroundings{
	project: "/home/ada/project", home: "/home/ada", homes: fsys.Homes{"/home/ada"},
	roots:     []string{"/home/ada/project/content", "/srv/root"},
	reach:     []string{"/home/ada/project/content", "/srv/root", "/srv/reach"},
	state:     "/run/state",
	secret:    []string{"/home/ada/project/server.d", "/run/state"},
	processes: []string{"/proc", "/sys/fs/cgroup"},
	protected: []string{
		"/home/ada/project/tools", "/home/ada/project/.registry", "/home/ada/project/server.d", "/run/state",
	},
	brings: func(program string) []string {
		switch program {
		case "/home/ada/lang/bin/run":
			return []string{program, "/home/ada/lang"}
		case "/home/ada/project/bin/script":
			return []string{program, "/home/ada/lang/bin/run", "/home/ada/lang", "/usr/bin/env"}
		}
		return []string{program}
	},
	lookPath: func(name string) string {
		switch name {
		case "git", "jq":
			return "/usr/bin/" + name
		case "sh":
			return "/usr/bin/dash"
		}
		return ""
	},
}

// CF-53: the declaration that permits the accesses.
func TestDeclare(t *testing.T) {
	for _, c := range []struct{ name, done, want, never string }{
		{"nothing", "", `{"capabilities":[]}`, ""},
		{"reads below a root", "read /srv/root/a\nread /srv/root", `{"capabilities":["Search"]}`, ""},
		{"writes below a root", "read /srv/root/a\nwrite /srv/root/a\nchange /srv/root/b", `{"capabilities":["Edit"]}`, ""},
		{"the root itself goes", "change /srv/root", `{"capabilities":[],"confine":{"write":["/srv"]}}`, ""},
		{"modes", "modes /tmp/x", `{"capabilities":["Edit"]}`, ""},
		{"modes of its own files", "modes /run/state/private.1/tmp/x", `{"capabilities":["Edit"]}`, ""},
		{"a file elsewhere", "read /home/ada/notes/a.txt", `{"capabilities":[],"confine":{"read":["~/notes/a.txt"]}}`, ""},
		{"a file that begins like home", "read /home/adam/a", `{"capabilities":[],"confine":{"read":["/home/adam/a"]}}`, ""},
		{"files of a directory", many(3, "read /home/ada/notes/%d"),
			`{"capabilities":[],"confine":{"read":["~/notes/1","~/notes/2","~/notes/3"]}}`, ""},
		{"a directory that is listed", many(3, "read /home/ada/notes/%d") + "read /home/ada/notes",
			`{"capabilities":[],"confine":{"read":["~/notes"]}}`, ""},
		{"keys among files", many(17, "read /home/ada/.ssh/%d"), listed(17, "read", "~/.ssh/%d"), ""},
		{"home", "read /home/ada", `{"capabilities":[]}`, "/home/ada contains too much to be declared"},
		{"above home", "read /home", `{"capabilities":[]}`, "/home contains too much to be declared"},
		{"everything", "read /", `{"capabilities":[]}`, "/ contains too much to be declared"},
		{"settings of the system", "read /etc", `{"capabilities":[]}`, "/etc contains too much to be declared"},
		{"another home", "read /root", `{"capabilities":[]}`, "/root contains too much to be declared"},
		{"the home of another", "read /home/eve", `{"capabilities":[]}`, "/home/eve contains too much to be declared"},
		{"files of home", many(3, "read /home/ada/.%d"),
			`{"capabilities":[],"confine":{"read":["~/.1","~/.2","~/.3"]}}`, ""},
		{"files of the root directory", many(3, "read /%d"), `{"capabilities":[],"confine":{"read":["/1","/2","/3"]}}`, ""},
		{"in the project", "read /home/ada/project/data/x\nread /home/ada/project/data",
			`{"capabilities":[],"confine":{"read":["data"]}}`, ""},
		{"in the project, which Search reads", "read /home/ada/project/data/x\nread /srv/root/x",
			`{"capabilities":["Search"]}`, ""},
		{"in the project, which Edit does not", "read /home/ada/project/data/x\nwrite /srv/root/x",
			`{"capabilities":["Edit"],"confine":{"read":["data/x"]}}`, ""},
		{"settings of the server", "read /home/ada/project/server.d/x\nread /home/ada/project",
			`{"capabilities":[],"confine":{"read":["."]}}`, "it is what is the server's own; only FileSystem reads that"},
		{"an odd name", "read /home/ada/project/~odd", `{"capabilities":[],"confine":{"read":["./~odd"]}}`, ""},
		{"read and written", "read /data/x\nwrite /data/x", `{"capabilities":[],"confine":{"write":["/data/x"]}}`, ""},
		{"what Python keeps", "change /data/__pycache__\nchange /data/__pycache__/x.pyc", `{"capabilities":[]}`, ""},
		{"made and used", "change /data/new\nwrite /data/new\nread /data/new\nchange /data/new/a",
			`{"capabilities":[],"confine":{"write":["/data"]}}`, ""},
		{"a shared directory", "change /tmp/x", `{"capabilities":[],"confine":{"write":["/tmp"]}}`, ""},
		{"16 files", many(16, "read /data/%d/x"), `{"capabilities":[],"confine":{"read":[` + strings.TrimSuffix(
			strings.Join(sorted(16, `"/data/%d/x",`), ""), ",") + `]}}`, ""},
		{"17 files that have a directory", many(17, "read /data/%d"), listed(17, "read", "/data/%d"), ""},
		{"17 files everywhere", many(17, "read /%d/x/y"), listed(17, "read", "/%d/x/y"), ""},
		{"64 files everywhere", many(64, "read /%d/x/y"), listed(64, "read", "/%d/x/y"), ""},

		{"programs", "start /usr/bin/git\nstart /usr/bin/dash\nread /home/ada/bin/x\nstart /home/ada/bin/x\n" +
			"start /home/ada/project/x\nstart /home/ada/project/bin/y",
			`{"capabilities":[],"confine":{"exec":["./x","bin/y","git","sh","~/bin/x"]}}`, ""},
		{"what programs bring along", "start /usr/bin/env\nstart /home/ada/lang/bin/run\nread /home/ada/lang/lib/x\n" +
			"start /home/ada/project/bin/script\nread /home/ada/project/bin/script",
			`{"capabilities":[],"confine":{"exec":["bin/script"]}}`, ""},
		{"what a program has installed", "start /home/ada/lang/bin/run\nread /home/ada/lang/lib/x",
			`{"capabilities":[],"confine":{"exec":["~/lang/bin/run"]}}`, ""},
		{"64 programs that are read", many(64, "start /usr/bin/%[1]d\nread /usr/bin/%[1]d"),
			listed(64, "exec", "/usr/bin/%d"), ""},
		{"a program next to all", "call ptrace\nstart /srv/x", `{"capabilities":["Process"],"confine":{"exec":["/srv/x"]}}`,
			""},

		{"TCP", "connect tcp 443\nconnect tcp 80 by curl\nconnect tcp 443 by curl",
			`{"capabilities":[],"confine":{"connect":[80,443]}}`, ""},
		{"17 ports", many(17, "connect tcp %d"),
			`{"capabilities":[],"confine":{"connect":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]}}`, ""},
		{"names", "connect udp 53 by curl\nconnect tcp 443 by curl\nconnect udp 443 by curl\nconnect udp by curl\n" +
			"listen netlink by curl\nsend netlink by curl\nconnect unix /run/nscd/socket by curl",
			`{"capabilities":[],"confine":{"connect":[53,443]}}`, ""},
		{"UDP", "connect udp 123 by ntp", `{"capabilities":["Network"]}`, ""},
		{"UDP without a connection", "listen udp by ntp\nsend udp 123 by ntp", `{"capabilities":["Network"]}`, ""},
		{"UDP of another program", "connect udp 443 by a\nconnect tcp 443 by b", `{"capabilities":["Network"]}`, ""},
		{"netlink", "listen netlink by ip", `{"capabilities":["Network"]}`, ""},
		{"a port of its own", "listen tcp 8080", `{"capabilities":["Network"]}`, ""},
		{"a Unix socket", "connect unix /run/docker.sock", `{"capabilities":["Process","Network"]}`, ""},
		{"keys", "call keyctl", `{"capabilities":["FileSystem"]}`, ""},
		{"watching", "call inotify_init\ncall fanotify_init", `{"capabilities":[]}`,
			"only FileSystem watches files; most programs then poll"},
		{"tracing", "call ptrace", `{"capabilities":["Process"]}`, ""},

		{"what runs next", "write /home/ada/project/tools/x/tool.sh\nchange /home/ada/project/.registry/x\n" +
			"modes /home/ada/project/tools/x/tool.sh", `{"capabilities":[]}`, "the server runs it later"},
		{"beside what runs next", "change /home/ada/project/out.txt", `{"capabilities":[]}`,
			"its directory, /home/ada/project, contains too much to be declared; use $TMPDIR, or a directory made beforehand"},
		{"signals", "signal 1", `{"capabilities":[]}`, "no process but the script's own is signalled"},
		{"io_uring", "call io_uring_setup", `{"capabilities":[]}`, "no confined tool may do this"},
		{"raw sockets", "socket raw", `{"capabilities":[]}`, "no confined tool may do this"},
		{"UDP-Lite", "socket protocol 136", `{"capabilities":[]}`, "no confined tool may do this"},
		{"netlink of another kind", "socket netlink protocol 4", `{"capabilities":[]}`, "no confined tool may do this"},
		{"processors of others", "call sched_setaffinity", `{"capabilities":[]}`, "no confined tool may do this"},
		{"control groups", "write /sys/fs/cgroup/x/cgroup.kill", `{"capabilities":[]}`,
			"it controls processes, also those of others"},
		{"a device's setting", "write /sys/class/leds/x/brightness",
			`{"capabilities":[],"confine":{"write":["/sys/class/leds/x/brightness"]}}`, ""},
		{"no UTF-8", "read /data/\xff", `{"capabilities":[]}`, "its name is not valid UTF-8"},
		{"its own process", "write /proc/self/oom_score_adj", `{"capabilities":[]}`, "its path differs in each run"},
	} {
		done := accesses(c.done)
		d := here.declare(done)
		if got := string(d.JSON()); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
		for _, never := range d.never {
			if !strings.HasSuffix(never, c.never) || c.never == "" {
				t.Errorf("%s: %q", c.name, never)
			}
		}
		if (c.never != "") != (d.never != nil) {
			t.Errorf("%s: %q", c.name, d.never)
		}
		declared := len(d.capabilities)
		for _, list := range d.extras {
			declared += len(list)
		}
		if len(d.reasons) != declared {
			t.Errorf("%s: %d reasons for %d declared: %v", c.name, len(d.reasons), declared, d.reasons)
		}
		// The declaration does not depend on the order of accesses, and permits the same call.
		slices.Reverse(done)
		if again := here.declare(done); string(again.JSON()) != c.want {
			t.Errorf("%s, the other way round: %s", c.name, again.JSON())
		}
	}
}

// listed returns the declaration of entries of a list.
func listed(n int, list, format string) string {
	entries := strings.TrimSuffix(strings.Join(sorted(n, `"`+format+`",`), ""), ",")
	return `{"capabilities":[],"confine":{"` + list + `":[` + entries + `]}}`
}

// CF-53: more entries than a list can have are reported. No capability replaces them, because it would open more.
func TestTooMany(t *testing.T) {
	for list, done := range map[string]string{
		"read": many(70, "read /%d/x/y"), "write": many(70, "write /%d/x/y"), "exec": many(70, "start /usr/bin/%d"),
		"connect": many(70, "connect tcp %d"),
	} {
		d := here.declare(accesses(done))
		want := fmt.Sprintf("6 entries of %s: it can have 64; declare directories, or a capability", list)
		if len(d.capabilities) > 0 || len(d.extras[list]) != 64 || !slices.Equal(d.never, []string{want}) {
			t.Errorf("%s: %s, %q", list, d.JSON(), d.never)
		}
	}
}

func sorted(n int, format string) []string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(format, i+1))
	}
	slices.Sort(list)
	return list
}

// CF-55: an entry that is created in a directory with too much content is declared alone, and must
// be created beforehand. Temporary entries are not declared.
func TestBeforehand(t *testing.T) {
	const file, directory = observe.File, observe.Directory
	tooMuch := func(dir string) string {
		return "its directory, " + dir + ", contains too much to be declared; use $TMPDIR, or a directory made beforehand"
	}
	for _, c := range []struct {
		name, done, want string
		beforehand       []beforehand
		never            string
	}{
		{"a directory in the home directory", "mkdir /home/ada/x",
			`{"capabilities":[],"confine":{"write":["~/x"]}}`, []beforehand{{"/home/ada/x", directory, "/home/ada"}}, ""},
		{"with what is in it", "mkdir /home/ada/x\nmkdir /home/ada/x/y\ncreate /home/ada/x/y/z\nread /home/ada/x/y/z",
			`{"capabilities":[],"confine":{"write":["~/x"]}}`, []beforehand{{"/home/ada/x", directory, "/home/ada"}}, ""},
		{"a file in the home directory", "create /home/ada/.x\nread /home/ada/.x",
			`{"capabilities":[],"confine":{"write":["~/.x"]}}`, []beforehand{{"/home/ada/.x", file, "/home/ada"}}, ""},
		{"in a directory that holds the home directory", "mkdir /home/x",
			`{"capabilities":[],"confine":{"write":["/home/x"]}}`, []beforehand{{"/home/x", directory, "/home"}}, ""},
		{"in the root directory", "create /x",
			`{"capabilities":[],"confine":{"write":["/x"]}}`, []beforehand{{"/x", file, "/"}}, ""},
		{"in /etc", "create /etc/x",
			`{"capabilities":[],"confine":{"write":["/etc/x"]}}`, []beforehand{{"/etc/x", file, "/etc"}}, ""},
		{"in the project", "mkdir /home/ada/project/out\ncreate /home/ada/project/out/a",
			`{"capabilities":[],"confine":{"write":["out"]}}`,
			[]beforehand{{"/home/ada/project/out", directory, "/home/ada/project"}}, ""},
		{"several files", many(3, "create /home/ada/.%d"), `{"capabilities":[],"confine":{"write":["~/.1","~/.2","~/.3"]}}`,
			[]beforehand{{"/home/ada/.1", file, "/home/ada"}, {"/home/ada/.2", file, "/home/ada"},
				{"/home/ada/.3", file, "/home/ada"}}, ""},
		{"with FileSystem", "create /home/ada/.x\ncall keyctl", `{"capabilities":["FileSystem"]}`, nil, ""},
		{"a file that does not last", "create /home/ada/.x\nchange /home/ada/.x", `{"capabilities":[]}`, nil,
			tooMuch("/home/ada")},
		{"a file that is replaced", "create /home/ada/x.tmp\nchange /home/ada/x.tmp\nchange /home/ada/x",
			`{"capabilities":[]}`, nil, tooMuch("/home/ada")},
		{"elsewhere", "mkdir /data/x", `{"capabilities":[],"confine":{"write":["/data"]}}`, nil, ""},
		{"below a root", "mkdir /srv/root/x", `{"capabilities":["Edit"]}`, nil, ""},
	} {
		d := here.declare(accesses(c.done))
		if got := string(d.JSON()); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
		if !slices.Equal(d.beforehand, c.beforehand) {
			t.Errorf("%s: beforehand %v", c.name, d.beforehand)
		}
		for _, never := range d.never {
			if c.never == "" || !strings.HasSuffix(never, c.never) {
				t.Errorf("%s: %s", c.name, never)
			}
		}
		if (d.never != nil) != (c.never != "") {
			t.Errorf("%s: never %q", c.name, d.never)
		}
	}
	rooted := *here
	rooted.roots = []string{"/home/ada"} // the root contains the project
	rooted.reach = rooted.roots
	d := rooted.declare(accesses("mkdir /home/ada/project/out\nmkdir /home/ada/new"))
	want := []beforehand{
		{"/home/ada/project/out", directory, "/home/ada/project"}, {"/home/ada/new", directory, "/home/ada"},
	}
	if string(d.JSON()) != `{"capabilities":["Edit"]}` || !slices.Equal(d.beforehand, want) {
		t.Errorf("%s, %v", d.JSON(), d.beforehand)
	}
}

// CF-51: the declaration that would permit a denied access.
func TestRemedy(t *testing.T) {
	for done, want := range map[string]string{
		"read /home/ada/notes/a": `takes FileSystem, or "confine": {"read":["~/notes/a"]}`,
		"read /srv/reach/a":      `takes Search, or "confine": {"read":["/srv/reach/a"]}`,
		"change /srv/reach/a":    `takes Edit, or "confine": {"write":["/srv/reach"]}`,
		"read /srv/root/a":       `takes Search`,
		"change /srv/root/a":     `takes Edit`,
		"mkdir /home/ada/x": `takes FileSystem, or "confine": {"write":["~/x"]}, ` +
			`and the directory to be created beforehand`,
		"create /home/ada/project/a": `takes FileSystem, or "confine": {"write":["a"]}, ` +
			`and the file to be created beforehand`,
		"change /data/a":                     `takes FileSystem, or "confine": {"write":["/data"]}`,
		"start /usr/bin/git":                 `takes "confine": {"exec":["git"]}, or Process`,
		"connect tcp 443":                    `takes Network, or "confine": {"connect":[443]}`,
		"socket tcp":                         `takes Network, or "confine": {"connect": [PORT]}`,
		"socket unix":                        `takes Process and Network`,
		"call memfd_create":                  `takes Process`,
		"signal 1":                           `cannot be allowed: no process but the script's own is signalled`,
		"write /home/ada/project/server.d/x": `cannot be allowed: the server runs it later`,
	} {
		if got := here.remedy(accesses(done)[0]); got != want {
			t.Errorf("%s: %s\nwant %s", done, got, want)
		}
	}
}

// CLI-815: existing declarations and all other bytes stay. Files that cannot be merged are not changed.
func TestMerged(t *testing.T) {
	d := &declaration{
		capabilities: []access.Capability{access.Search},
		extras:       map[string][]string{readList: {"data"}, connectList: {"443"}},
	}
	for _, c := range []struct{ text, want string }{
		{
			"{\n\t\"name\": \"x\"  ,\n\t\"n\": 1.0\n}\n",
			"{\n\t\"name\": \"x\"  ,\n\t\"n\": 1.0,\n\t\"capabilities\": [\n\t\t\"Search\"\n\t],\n\t\"confine\": {\n" +
				"\t\t\"read\": [\n\t\t\t\"data\"\n\t\t],\n\t\t\"connect\": [\n\t\t\t443\n\t\t]\n\t}\n}\n",
		},
		{`{"capabilities":["network","search"],"confine":{"connect":[80],"exec":["x"]}}`,
			`{"capabilities":["network","search"],"confine":{"connect":[80,443],"exec":["x"],"read":["data"]}}`},
		{`{"capabilities":["Search"],"confine":{"read":["data","b"],"connect":[443]}}`,
			`{"capabilities":["Search"],"confine":{"read":["data","b"],"connect":[443]}}`},
		{`{"capabilities":"all"}`, ""}, {`{"confine":[]}`, ""}, {`{"confine":{"read":1}}`, ""}, {`[]`, ""}, {`{`, ""},
		{`{"capabilities":[],"capabilities":[]}`, ""},
		// Paths that mean the same, and directories that contain them.
		{`{"capabilities":["Search"],"confine":{"read":["./data/"],"connect":[443]}}`,
			`{"capabilities":["Search"],"confine":{"read":["./data/"],"connect":[443]}}`},
		{`{"capabilities":["Search"],"confine":{"read":["/home/ada/project/data"],"connect":[443]}}`,
			`{"capabilities":["Search"],"confine":{"read":["/home/ada/project/data"],"connect":[443]}}`},
		{`{"capabilities":["Search"],"confine":{"read":["."],"connect":[443]}}`,
			`{"capabilities":["Search"],"confine":{"read":["."],"connect":[443]}}`},
	} {
		got, err := merged([]byte(c.text), d, here)
		if (err != nil) != (c.want == "") || err == nil && string(got) != c.want {
			t.Errorf("%s: %s, %v", c.text, got, err)
		}
	}
}

// CLI-815: a program is one, however it is written.
func TestMergedPrograms(t *testing.T) {
	d := &declaration{extras: map[string][]string{execList: {"git", "scripts/x", "./y"}}}
	for _, c := range []struct{ there, added string }{
		{`"./scripts/x","/usr/bin/git","./y"`, ""}, {`"x","y"`, `,"git","scripts/x","./y"`},
	} {
		text := `{"capabilities":[],"confine":{"exec":[` + c.there + `]}}`
		want := `{"capabilities":[],"confine":{"exec":[` + c.there + c.added + `]}}`
		if got, err := merged([]byte(text), d, here); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}

// FuzzDeclare makes declarations of arbitrary accesses.
func FuzzDeclare(f *testing.F) {
	f.Add("read /a\nchange /home/ada/project/x\nconnect tcp 70000 by x\nstart /home/ada/project/tools/x")
	f.Fuzz(func(t *testing.T, text string) {
		d := here.declare(accesses(text))
		for list, entries := range d.extras {
			if len(entries) > mostOf {
				t.Errorf("%s", d.JSON())
			}
			for _, entry := range entries {
				if list == readList && here.homes.Hold(here.resolve(list, entry)) {
					t.Errorf("%s", d.JSON())
				}
			}
		}
		if _, err := merged([]byte(`{"name":"x"}`), &d, here); err != nil {
			t.Error(err)
		}
	})
}
