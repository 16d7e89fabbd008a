package sandbox

import (
	"context"
	"fmt"
	"iter"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/wire/mcp"
	"mcp-bash/test/checkout"
	"mcp-bash/test/refuse"
)

// A scene is a project, and the targets of its scripts: a root, another directory, and the
// server.
type scene struct {
	t           testing.TB
	dir, home   string
	root, other string
	project     string
	env         []string
	port        int
	sandbox     *Sandbox
	runner      script.Runner
	logged      []string
}

func newScene(t testing.TB, mode string) *scene {
	t.Helper()
	if confine.Offered().None() {
		t.Skip("the kernel cannot confine")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, dir: dir}
	for _, d := range []struct {
		path *string
		name string
	}{{&s.root, "root"}, {&s.project, "project"}, {&s.other, "other"}, {&s.home, "home"}} {
		*d.path = filepath.Join(dir, d.name)
		for _, sub := range []string{"", "sub", "tools", "tools/own"} {
			if err := os.Mkdir(filepath.Join(*d.path, sub), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		s.put(filepath.Join(*d.path, "file"), "content of "+d.name+"\n")
		s.put(filepath.Join(*d.path, "program"), "#!/usr/bin/env bash\necho started\n")
	}
	unix.Setxattr(filepath.Join(s.other, "file"), "user.secret", []byte("content"), 0) // see fileSystemsLack
	if err := os.Symlink("target", filepath.Join(s.other, "link")); err != nil {
		t.Fatal(err)
	}
	s.put(s.tool()+"/tool.sh", "#!/usr/bin/env bash\n")
	s.put(s.tool()+"/file", "own\n")
	s.put(s.tool()+"/program", "#!/usr/bin/env bash\necho started\n")
	if err := os.Mkdir(filepath.Join(dir, "sdk"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"prompts/p.completion.sh", "resources/r.md", "scripts/complete.sh", "run-server.sh"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(s.project, file)), 0o755); err != nil {
			t.Fatal(err)
		}
		s.put(filepath.Join(s.project, file), "#!/usr/bin/env bash\n")
	}
	try, err := buildTry()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	local, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	abstract, err := net.Listen("unix", "@"+dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close(); local.Close(); abstract.Close() })
	s.port = listener.Addr().(*net.TCPAddr).Port
	env := project.Env{"PATH": os.Getenv("PATH"), "HOME": s.home, "MCPBASH_STATE_DIR": filepath.Join(dir, "state")}
	p := project.Open(s.project, env, s.project, func(line string) { t.Error(line) })
	state, _, err := project.NewState(env, &p.Settings)
	if err != nil {
		t.Fatal(err)
	}
	s.put(filepath.Join(state.Dir, "secret"), "x\n")
	confinement, ok := access.ParseConfinement(mode)
	if !ok {
		t.Fatal(mode)
	}
	s.sandbox = New(Config{
		Project: p, Mode: confinement, Kernel: confine.Offered, Runner: &s.runner, State: state,
		Common: project.Env{"MCPBASH_HOME": filepath.Join(dir, "sdk"), "MCPBASH_JSON_TOOL_BIN": try},
		Log:    func(_ mcp.Level, _, text string) { s.logged = append(s.logged, text) },
		Listed: func() ([]Listed, error) { return []Listed{{Script: s.project + "/scripts/complete.sh"}}, nil },
	})
	s.env = []string{
		"PATH=" + env["PATH"], "SCENE=" + dir, "ROOT=" + s.root, "OWN=" + s.tool(), "PROJECT=" + s.project,
		"OTHER=" + s.other,
		"TRY=" + try, "PORT=" + strconv.Itoa(s.port), "SERVER=" + strconv.Itoa(os.Getpid()), "LC_ALL=C",
		"STATE=" + state.Dir,
	}
	return s
}

// buildTry builds the program of testdata/try, as scripts start it often, and what is built
// with the race detector starts slowly. MCPBASH_TEST_TRY names one where there is no Go.
var buildTry = sync.OnceValues(func() (file string, err error) {
	if file = os.Getenv("MCPBASH_TEST_TRY"); file != "" {
		return file, nil
	}
	dir, err := os.MkdirTemp("", "mcp-bash-try.")
	if err != nil {
		return "", err
	}
	leftovers = append(leftovers, dir)
	return filepath.Join(dir, "try"), checkout.Build(dir, "mcp-bash/pkg/sandbox/testdata/try")
})

var leftovers []string // directories to be removed at the end

func TestMain(m *testing.M) {
	code := m.Run()
	for _, dir := range leftovers {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// roots returns the roots of a call. They include the project, which is the default root.
func (s *scene) roots() roots.List {
	return roots.List{{URI: "file://" + s.root, Path: s.root}, {URI: "file://" + s.project, Path: s.project}}
}

func (s *scene) tool() string { return filepath.Join(s.project, "tools", "own") }

func (s *scene) put(path, content string) {
	s.t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// needs is what letters stand for: S is Search, and so on.
func needs(letters string) access.Declaration {
	d := access.Declaration{Given: true}
	for _, letter := range letters {
		at := slices.IndexFunc(access.Capabilities, func(c access.Capability) bool { return rune(c[0]) == letter })
		d.Capabilities = append(d.Capabilities, access.Capabilities[at])
	}
	return d
}

// run runs code as a tool with a declaration.
func (s *scene) run(d access.Declaration, code string) script.Result {
	s.t.Helper()
	h, err := s.sandbox.ConfineTool(&Subject{
		Name: "Tool 'own'", Script: s.tool() + "/tool.sh", Needs: d, Roots: s.roots(),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	defer h.Release()
	defer h.Ended()
	spec := script.Spec{
		Argv: []string{"bash", "-c", code}, Dir: s.project, Timeout: 2 * time.Minute,
		Env: append(slices.Clone(s.env), "TMPDIR="+s.dir),
	}
	apply(h, &spec)
	return s.runner.Run(context.Background(), spec)
}

// apply confines a script. Its directory for temporary files is in the private directory, as in a call.
func apply(h *Confinement, spec *script.Spec) {
	if h.Apply(spec); h != nil {
		spec.Env = project.Override(spec.Env, "TMPDIR", filepath.Join(h.private.dir, tempName))
	}
}

// An attempt is Bash code, and the capabilities with which it succeeds. Each word of with is a sufficient set of
// capabilities. The attempt always succeeds with "", and never with "-". Some attempts start the program of
// testdata/try. The program replaces the JSON tool, so that scripts can start it without Process.
type attempt struct{ name, code, with string }

// attempts are all of them, by the features of the kernel ([confine.Kernel.Lacks]) and of the file systems
// ([fileSystemsLack]) that they need.
var attempts = []struct {
	lacking  string
	attempts []attempt
}{
	{"", []attempt{
		{"read own folder", `[[ $(<"$OWN/file") ]]`, ""},
		{"write own directory", `echo x >"$TMPDIR/new" && "$TRY" mkdir "$TMPDIR/d" && mv "$TMPDIR/new" "$TMPDIR/d/new" &&
			rm "$TMPDIR/d/new" && "$TRY" rm "$TMPDIR/d"`, ""},
		{"null and here document", `cat >/dev/null <<<"$(printf '%70000s' x)"`, ""},
		{"descriptors of its own", `echo x >/dev/stdout && : >/dev/fd/2 && cat <(echo y)`, ""},
		{"start own program", `"$OWN/program"`, ""},
		{"what the SDK starts", `mkfifo "$TMPDIR/p" && rm "$TMPDIR/p" && sleep 0.01 && date && mktemp`, ""},
		{"signal a child", `sleep 30 & kill $! && ! wait $!`, ""},
		{"signal its group", `trap : USR1; kill -USR1 0`, ""},
		{"read a certificate", `[[ ! -d /etc/ssl/certs ]] || "$TRY" ls /etc/ssl/certs`, ""},
		{"connected pair", `"$TRY" streampair`, ""},
		{"see a file beside and its size", `[[ -s $OTHER/file ]]`, ""},            // CF-27
		{"read the target of a link beside", `"$TRY" readlink "$OTHER/link"`, ""}, // CF-27
		{"start a copy of a permitted program by the loader", `d=$TMPDIR/$$; "$TRY" mkdir "$d" &&
			"$TRY" cp "$(type -p cat)" "$d/cat" || exit
			for l in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1; do
				[[ ! -e $l ]] || "$l" "$d/cat" "$OWN/file" || exit; done`, ""}, // CF-15
		{"mount", `"$TRY" mount`, "-"},
		{"trace the server", `"$TRY" trace`, "-"},
		{"memory of the server", `"$TRY" memory`, "-"},
		{"memory of the server's threads by file", `"$TRY" memoryfile`, "-"},
		{"environment of the server", `for t in /proc/$SERVER/task/*; do
			[[ $(tr '\0' '\n' <"$t/environ") ]] && exit; done; exit 1`, "-"},
		{"descriptors of the server", `for t in /proc/$SERVER/task/*; do readlink "$t/fd/0" && exit; done; exit 1`, "-"},
		{"write to the server's output", `for t in /proc/$SERVER/task/*; do : >"$t/fd/1" && exit; done; exit 1`, "-"},
		{"root of the server", `for t in /proc/$SERVER/task/*; do "$TRY" ls "$t/root/" && exit; done; exit 1`, "-"},
		{"directory of the server", `for t in /proc/$SERVER/task/*; do "$TRY" ls "$t/cwd/" && exit; done; exit 1`, "-"},
		{"more privileges", `[[ $(</proc/self/status) == *NoNewPrivs:?0* ]]`, "-"},
		{"capabilities that are inherited", `while read -r name value; do
			[[ $name == Cap@(Inh|Amb): && $value == *[!0]* ]] && exit; done </proc/self/status; exit 1`, "-"},
		{"tracing by capability", `s=$(</proc/self/status); s=${s#*CapEff:?}; (( (0x${s%%[!0-9a-f]*} >> 19) & 1 ))`, "-"},
	}},
	{"files", []attempt{
		{"read a root", `cat "$ROOT/file"`, "S E F"},
		{"list a root", `"$TRY" ls "$ROOT"`, "S E F"},
		{"read through dots", `cat "$PROJECT/../root/sub/../file"`, "S E F"},
		{"read the project", `cat "$PROJECT/file"`, "S E F"},
		{"write a root", `echo x >"$ROOT/new"`, "E F"},
		{"append in a root", `echo x >>"$ROOT/file"`, "E F"},
		{"remove in a root", `echo x >"$ROOT/doomed" && rm "$ROOT/doomed"`, "E F"},
		{"rename in a root", `"$TRY" cp "$OWN/file" "$ROOT/a" && "$TRY" mv "$ROOT/a" "$ROOT/sub/a"`, "E F"},
		{"make a directory in a root", `d="$ROOT/d$RANDOM$RANDOM"; "$TRY" mkdir "$d" && "$TRY" rm "$d"`, "E F"},
		{"make a link in a root", `l="$ROOT/l$RANDOM$RANDOM"; "$TRY" symlink x "$l"`, "E F"},
		{"make a pipe in a root", `p="$ROOT/p$RANDOM$RANDOM"; mkfifo "$p" && rm "$p"`, "E F"},
		{"start a program of the system", `uname`, "P"},
		{"start one by its path", `/usr/bin/uname`, "P"},
		{"start one by the loader", `for l in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1; do
			[[ -e $l ]] && "$l" /usr/bin/uname && exit; done; exit 1`, "P F"},
		{"start a copy of one", `"$TRY" cp "$TRY" "$TMPDIR/copy" && "$TMPDIR/copy" ls "$TMPDIR"`, "P"},
		{"start from a root", `"$ROOT/program"`, "SP EP FP"},
		{"start a script by its interpreter", `bash "$ROOT/program"`, "S E F"},
		{"start from beside", `"$OTHER/program"`, "FP"},
		{"start with a preloaded library", `LD_PRELOAD="$OTHER/file" uname`, "P"},
		{"read beside", `cat "$OTHER/file"`, "F"},
		{"list beside", `"$TRY" ls "$OTHER"`, "F"},
		{"list above", `"$TRY" ls "$SCENE"`, "F"},
		{"read by relative path", `cat ../other/file`, "F"},
		{"read after chdir", `cd "$OTHER" && cat file`, "F"},
		{"read through own link", `"$TRY" symlink "$OTHER/file" "$TMPDIR/l$$" && cat "$TMPDIR/l$$"`, "F"},
		{"read through a link in a root", `"$TRY" symlink "$OTHER/file" "$ROOT/l$$" && cat "$ROOT/l$$"`, "F"},
		{"read through proc root", `cat "/proc/self/root$OTHER/file"`, "F"},
		{"read through proc cwd", `cat /proc/self/cwd/../other/file`, "F"},
		{"read through a held directory", `cd "$OTHER" && cat /proc/self/cwd/file`, "F"},
		{"read a directory by descriptor", `exec 7<"$OTHER" && cat /proc/self/fd/7/file`, "F"},
		{"hard link out", `"$TRY" ln "$OTHER/file" "$TMPDIR/h$$" && cat "$TMPDIR/h$$"`, "F"},
		{"hard link in", `echo x >"$TMPDIR/i$$"; "$TRY" ln "$TMPDIR/i$$" "$OTHER/h$$"`, "F"},
		{"rename out", `echo x >"$TMPDIR/r"; "$TRY" mv "$TMPDIR/r" "$OTHER/r$$"`, "F"},
		{"rename in", `"$TRY" mv "$OTHER/file" "$TMPDIR/stolen" && "$TRY" mv "$TMPDIR/stolen" "$OTHER/file"`, "F"},
		{"rename a directory in", `"$TRY" mv "$OTHER/sub" "$TMPDIR/stolen" && "$TRY" mv "$TMPDIR/stolen" "$OTHER/sub"`, "F"},
		{"write beside", `echo x >"$OTHER/new"`, "F"},
		{"truncate beside", `"$TRY" truncate "$OTHER/sub/../file" && echo x >"$OTHER/file"`, "F"},
		{"remove beside", `echo x >"$OTHER/doomed" && rm "$OTHER/doomed"`, "F"},
		{"write own script", `echo >>"$OWN/tool.sh"`, "F"},
		{"write beside own script", `echo x >"$OWN/tool.meta.json"`, "F"},
		{"write into the project", `echo x >"$PROJECT/new" && rm "$PROJECT/new"`, "F"},
		{"change a completion script next to a prompt", `echo x >>"$PROJECT/prompts/p.completion.sh"`, "F"},
		{"make one next to a resource", `echo x >"$PROJECT/resources/r.completion.sh"`, "F"},
		{"change one that the registry lists", `echo x >>"$PROJECT/scripts/complete.sh"`, "F"},
		{"rename the folder of one", `"$TRY" mv "$PROJECT/scripts" "$PROJECT/s$$" &&
			"$TRY" mv "$PROJECT/s$$" "$PROJECT/scripts"`, "F"},
		{"rename a folder to one of code", `"$TRY" mkdir "$ROOT/providers$$"
			"$TRY" mv "$ROOT/providers$$" "$PROJECT/providers" && "$TRY" rm "$PROJECT/providers"`, "F"},
		{"make the settings of bundles", `echo x >"$PROJECT/mcpb.conf" && rm "$PROJECT/mcpb.conf"`, "F"},
		{"change the script that starts the server", `echo x >>"$PROJECT/run-server.sh"`, "F"},
		{"make the settings of a client", `echo x >"$PROJECT/.mcp.json" && rm "$PROJECT/.mcp.json"`, "F"},
		{"put a link in the place of code", `"$TRY" mv "$PROJECT/prompts" "$PROJECT/p$$" &&
			"$TRY" symlink "$ROOT" "$PROJECT/prompts" && "$TRY" rm "$PROJECT/prompts" &&
			"$TRY" mv "$PROJECT/p$$" "$PROJECT/prompts"`, "F"},
		{"change a file of the project", `echo x >>"$PROJECT/file"`, "E F"},
		{"write the SDK", `echo >>"$SCENE/sdk/tool-sdk.sh"`, "F"},
		{"list the state of the server", `"$TRY" ls "$STATE"`, "F"},
		{"temporary files of others", `"$TRY" mkdir "$STATE/private.other"; "$TRY" ls "$STATE/private.other"`, "F"},
		{"read by another shell", `bash -c 'cat "$OTHER/file"'`, "F"},
		{"read from a child that stays", `mkfifo "$TMPDIR/stays"
			( (trap '' HUP; cat "$OTHER/file" >"$TMPDIR/out"; echo >"$TMPDIR/stays") & )
			read -r _ <"$TMPDIR/stays"; s=$(<"$TMPDIR/out"); rm -f "$TMPDIR/out" "$TMPDIR/stays"; [[ $s ]]`, "F"},
		{"read as the loader", `for l in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1; do
			[[ -e $l ]] && "$l" /bin/cat "$OTHER/file" && exit; done; exit 1`, "F"},
		{"read with a preloaded library", `LD_PRELOAD="$OTHER/file" cat "$OTHER/file"`, "F"},
		{"read shadow", `cat /etc/shadow`, "F"},
		{"write to the temporary files of all", `f=/tmp/confined.$$.$RANDOM; echo x >"$f" && rm "$f"`, "F"},
		{"write to shared memory", `f=/dev/shm/confined.$$.$RANDOM; echo x >"$f" && rm "$f"`, "F"},
		{"write a system setting", `f=/etc/confined.$$; echo x >"$f" && rm "$f"`, "F"},
	}},
	{"files, truncating files", []attempt{
		{"be killed last", `s=$(</proc/self/oom_score_adj); echo "$s" >/proc/self/oom_score_adj`, "-"},
		{"have init killed first", `s=$(</proc/1/oom_score_adj); echo "$s" >/proc/1/oom_score_adj`, "-"},
		{"write a setting of the kernel", `s=$(</proc/sys/kernel/pid_max); echo "$s" >/proc/sys/kernel/pid_max`, "-"},
		{"make a control group", `for d in /sys/fs/cgroup{,/*}; do "$TRY" mkdir "$d/try$$" && "$TRY" rm "$d/try$$" && exit; done
			exit 1`, "-"},
		{"change a control group", `for f in /sys/fs/cgroup/{,*/}{cgroup.kill,cgroup.freeze,cgroup.procs,freezer.state,tasks}; do
			[[ -e $f ]] && (exec 3>>"$f") && exit; done; exit 1`, "-"},
		{"write to sysfs", `for f in /sys/kernel/mm/ksm/run /sys/kernel/uevent_seqnum /sys/power/state; do
			[[ -w $f ]] && (exec 3>>"$f") && exit; done; exit 1`, "-"},
		{"truncate in a root", `"$TRY" truncate "$ROOT/file"`, "E F"},
	}},
	{"network", []attempt{
		{"TCP", `exec 3<>"/dev/tcp/127.0.0.1/$PORT"`, "N"},
		{"TCP in C", `"$TRY" tcp`, "N"},
		{"TCP by its first bytes", `"$TRY" fastopen`, "N"},
		{"TCP listener", `"$TRY" listen`, "N"},
		{"multipath TCP", `"$TRY" mptcp`, "N"},
		{"UDP", `"$TRY" udp`, "N"},
		{"netlink", `"$TRY" netlink`, "N"},
		{"Unix socket", `"$TRY" unix`, "NP"},
		{"Unix socket, abstract", `"$TRY" abstract`, "NP"},
		{"Unix datagram to anybody", `"$TRY" pair`, "NP"},
		{"SCTP", `"$TRY" sctp`, "-"},
		{"SCTP as a stream", `"$TRY" sctpstream`, "-"},
		{"DCCP", `"$TRY" dccp`, "-"},
		{"UDP-Lite", `"$TRY" udplite`, "-"},
		{"ICMP by datagrams", `"$TRY" icmp`, "-"},
		{"ICMPv6 by datagrams", `"$TRY" icmp6`, "-"},
		{"netlink about sockets", `"$TRY" diag`, "-"},
		{"netlink about devices", `"$TRY" uevent`, "-"},
		{"pair of another family", `"$TRY" tipcpair`, "-"},
	}},
	{"system calls", []attempt{
		{"change a mode", `"$TRY" chmod "$ROOT/program"`, "E F"},
		{"change a mode beside", `"$TRY" chmod "$OTHER/program"`, "E F"},
		{"set an attribute", `"$TRY" xattr "$OTHER/file"`, "E F"},
		{"change the mode of an open file", `"$TRY" fchmod "$OWN/file"`, "E F"},
		{"change the mode of a file that is open for nothing", `"$TRY" fchmodneither "$OTHER/file"`, "E F"},
		{"change the mode of the script", `"$TRY" fchmod "$OWN/tool.sh"`, "E F"},
		{"change the owner of an open file", `"$TRY" fchown "$OWN/file"`, "E F"},
		{"set attributes in a new way", `"$TRY" setattr "$OWN/file"`, "E F"},
		{"processors of the server", `"$TRY" affinity`, "-"},
		{"scheduler of the server", `"$TRY" scheduler`, "-"},
		{"scheduling parameters of the server", `"$TRY" parameters`, "-"},
		{"scheduling attributes of the server", `"$TRY" attributes`, "-"},
		{"priority of the server", `"$TRY" priority`, "-"},
		{"priority of a process group", `"$TRY" prioritygroup`, "-"},
		{"priority of the user", `"$TRY" priorityuser`, "-"},
		{"I/O priority of the server", `"$TRY" iopriority`, "-"},
		{"pages of the server", `"$TRY" movepages || "$TRY" migratepages`, "-"},
		{"priority of its own", `"$TRY" ownpriority && "$TRY" ownscheduling`, ""},
		{"connected packet pair", `"$TRY" seqpair`, ""},
		{"type into a terminal", `"$TRY" type`, "-"},
		{"paste into a console", `"$TRY" paste`, "-"},
		{"another line discipline", `"$TRY" discipline`, "-"},
		{"strings of keys", `"$TRY" keys`, "-"},
		{"switch the console", `"$TRY" console`, "-"},
		{"userfaultfd by its device", `"$TRY" faultdevice`, "-"},
		{"virtual machine", `"$TRY" machine`, "-"},
		{"network device", `"$TRY" tunnel`, "-"},
		{"ask whether it is a terminal", `"$TRY" isterminal`, ""},
		{"start one in memory", `"$TRY" memfd`, "P"},
		{"raw socket", `"$TRY" raw`, "-"},
		{"packet socket", `"$TRY" packet`, "-"},
		{"vsock", `"$TRY" vsock`, "-"},
		{"algorithm socket", `"$TRY" alg`, "-"},
		{"socket by the x32 ABI", `"$TRY" x32`, "-"},
		{"io_uring", `"$TRY" uring`, "-"},
		{"bpf", `"$TRY" bpf`, "-"},
		{"perf", `"$TRY" perf`, "-"},
		{"userfaultfd", `"$TRY" userfault`, "-"},
		{"keyring", `"$TRY" keyring`, "F"},
		{"signal by descriptor", `"$TRY" pidfd`, "-"},
		{"signal by owner of a pipe", `"$TRY" owner`, "-"},
		{"limits of the server", `"$TRY" prlimit`, "-"},
		{"stop a process", `"$TRY" stop`, "-"},
		{"delay those who open a file", `"$TRY" lease "$OWN/file"`, "-"},
		{"watch a directory beside", `"$TRY" watch "$OTHER"`, "F"},
		{"watch its own directory", `"$TRY" watch "$OWN"`, "F"},
		{"compare a file beside with another", `"$TRY" compare "$OTHER/file"`, "F"},
	}},
	{"system calls, attributes", []attempt{
		{"read the attributes of a file beside", `"$TRY" attributesof "$OTHER/file"`, "F"},
		{"set an attribute of an open file", `"$TRY" fsetxattr "$OWN/file"`, "E F"},
		{"remove one of an open file", `"$TRY" fremovexattr "$OWN/file"`, "E F"},
	}},
	{"system calls, flags", []attempt{
		{"set flags of an open file", `"$TRY" setflags "$OWN/file"`, "E F"},
		{"set more flags of an open file", `"$TRY" fssetxattr "$OWN/file"`, "E F"},
	}},
	{"system calls, versions", []attempt{
		{"set the version of an open file", `"$TRY" setversion "$OWN/file"`, "E F"},
	}},
	{"system calls, userfaultfd", []attempt{
		{"open userfaultfd and use it", `"$TRY" faultfile`, "-"},
	}},
	{"files, system calls", []attempt{
		{"change modes of its own open file", `"$TRY" fchmodopen`, ""},
	}},
	{"signals", []attempt{
		{"signal the server", `kill -0 $SERVER`, "-"},
		{"signal init", `kill -0 1`, "-"},
	}},
	{"signals, system calls", []attempt{
		{"signal the server's threads", `"$TRY" threads`, "-"},
	}},
}

// ofRoot are attempts that fail for every user except root, also without confinement.
var ofRoot = []string{"read shadow", "write a system setting"}

// suffices reports whether letters hold one of the words of with.
func suffices(letters, with string) bool {
	if with == "" {
		return true
	}
	for word := range strings.FieldsSeq(with) {
		all := true
		for _, letter := range word {
			all = all && strings.ContainsRune(letters, letter)
		}
		if all {
			return true
		}
	}
	return false
}

func withLandlock(t *testing.T) {
	t.Helper()
	if confine.Offered().ABI == 0 {
		t.Skip("the kernel has no Landlock")
	}
}

// fileSystemsLack returns the operations that the file system of temporary files does not support, such as tmpfs
// before Linux 6.6. They fail there with the errors of a refusal. It also returns a device that older kernels lack.
var fileSystemsLack = sync.OnceValue(func() (list []string) {
	f, err := os.CreateTemp("", "mcp-bash-features.")
	if err != nil {
		return nil
	}
	defer os.Remove(f.Name())
	defer f.Close()
	fd := int(f.Fd())
	if unix.Fsetxattr(fd, "user.tried", nil, 0) == unix.EOPNOTSUPP {
		list = append(list, "attributes")
	}
	if _, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS); err == unix.ENOTTY {
		list = append(list, "flags")
	}
	if _, err := unix.IoctlGetUint32(fd, fsGetVersion); err == unix.ENOTTY {
		list = append(list, "versions")
	}
	if _, err := os.Stat("/dev/userfaultfd"); err != nil {
		list = append(list, "userfaultfd")
	}
	return list
})

const fsGetVersion = 0x80087601 // FS_IOC_GETVERSION

// heldBy yields the attempts that a kernel can hold.
func heldBy(k confine.Kernel) iter.Seq[attempt] {
	lacks := slices.Concat(k.Lacks(&confine.Profile{}), fileSystemsLack())
	return func(yield func(attempt) bool) {
		for _, g := range attempts {
			if slices.ContainsFunc(strings.Split(g.lacking, ", "), func(w string) bool { return slices.Contains(lacks, w) }) {
				continue
			}
			for _, a := range g.attempts {
				if !yield(a) {
					return
				}
			}
		}
	}
}

// Every attempt succeeds with the right declaration and fails without it, in each mode (CF-1,
// CF-10 to CF-27).
func TestEscapes(t *testing.T) {
	for _, mode := range []string{"declared", "declared,required", "all", "all,required"} {
		combinations := []string{"", "P"}
		switch {
		case mode == "declared":
			combinations = []string{"", "S", "E", "N", "P", "SP", "EP", "NP", "F", "FN", "FP", "FPN", everything}
		case testing.Short():
			combinations = []string{"P"}
		}
		for _, letters := range combinations {
			t.Run(mode+" with "+letters, func(t *testing.T) {
				t.Parallel()
				s := newScene(t, mode)
				if lacks := s.lacks(); s.sandbox.Mode.Required && lacks != nil {
					t.Skipf("what is required is refused: this kernel cannot hold %s", lacks)
				}
				d := needs(letters)
				d.Given = d.Given && !(strings.HasPrefix(mode, "all") && letters == "") // no letters: no declaration
				s.tries(letters, d)
			})
		}
	}
}

// everything is all capabilities.
const everything = "FPNSE"

// tries runs the attempts that the kernel can restrict. d is the declaration for the letters. With -short, it runs
// an attempt that never succeeds only with all capabilities, and one that always succeeds only without capabilities.
func (s *scene) tries(letters string, d access.Declaration) {
	s.t.Helper()
	k := s.sandbox.Kernel()
	for a := range heldBy(k) {
		if testing.Short() && (a.with == "-" && letters != everything || a.with == "" && letters != "") {
			continue
		}
		want := suffices(letters, a.with)
		if a.name == "rename in a root" && k.ABI == 1 { // held, and no right can be given (CF-31)
			want = strings.Contains(letters, "F")
		}
		s.wants(a.name, s.run(d, a.code), want)
	}
}

// lacks is what the kernel cannot hold of a tool that declares nothing.
func (s *scene) lacks() []string { return s.sandbox.Kernel().Lacks(&confine.Profile{}) }

func (s *scene) wants(name string, res script.Result, want bool) {
	s.t.Helper()
	want = want && (os.Geteuid() == 0 || !slices.Contains(ofRoot, name))
	if got := res.Status == 0 && res.Cause == nil; got != want {
		s.t.Errorf("%s: succeeded: %t, want %t (status %d, %v)\n%s%s", name, got, want, res.Status, res.Cause, res.Stdout,
			res.Stderr)
	}
}

// Unconfined scripts can do everything. In the mode "off" all scripts are unconfined, in "declared" those that
// declare nothing (CF-1).
func TestUnconfined(t *testing.T) {
	for mode, d := range map[string]access.Declaration{"off": needs(""), "declared": {}} {
		s := newScene(t, mode)
		for a := range heldBy(confine.Offered()) {
			if a.with != "-" && a.name != "write the SDK" {
				s.wants(a.name, s.run(d, a.code), true)
			}
		}
		s.wants("signal the server", s.run(d, "kill -0 $SERVER"), true)
	}
}

// Scripts are confined the same where a filter refuses openat2, as under RestrictSUIDSGID of systemd (CF-13).
func TestEscapesWithoutOpenat2(t *testing.T) {
	withLandlock(t)
	refuse.Rerun(t, "^Test(Escapes|ExchangedLinks)$/^declared_with_(|EP|FPN)$", unix.ENOSYS, unix.SYS_OPENAT2)
}

// A descriptor that is exchanged while its mode is changed leads to no other file than one that is open for
// writing (CF-24).
func TestModesOfExchangedDescriptors(t *testing.T) {
	withLandlock(t)
	s := newScene(t, "declared")
	if s.lacks() != nil {
		t.Skipf("this kernel lacks %s", s.lacks())
	}
	s.wants("exchange a descriptor", s.run(needs("S"), `"$TRY" fchmodswap "$PROJECT/program"`), false)
}

// Usual programs work on their own files without Edit (CF-24), and below a root with it. None needs attributes or
// watches files (CF-65).
func TestProgramsThatKeepModes(t *testing.T) {
	withLandlock(t)
	s := newScene(t, "declared")
	if s.lacks() != nil {
		t.Skipf("this kernel lacks %s", s.lacks())
	}
	for _, c := range []struct {
		letters, dir string
		programs     []string
	}{
		{"P", `"$TMPDIR"`, []string{
			`cp -p a b`, `cp -a a b`, `gzip -k a`, `bzip2 -k a`, `xz -k a`, `sed -i s/x/y/ a`, `sort -o a a`, `mktemp`,
			`perl -pi -e s/x/y/ a`, `split -l1 a`, `ls -l a`, `ls -la --color=always .`, `mv a b`, `stat a`, `file a`,
			`tar -cf t a && rm a && tar -xf t`, `rsync -a a b`, `find . -newer a`, `zip -q z a`, `getfacl a`,
			`tail -n 1 a`,
		}},
		{"PSE", `"$ROOT/sub"`, []string{
			`cp -a a b`, `install a b`, `mv a "$TMPDIR/b" && mv "$TMPDIR/b" a`, `rsync -a a b`, `tar -cf t a && tar -xf t`,
			`git init -q . && git add a && git -c user.name=x -c user.email=x commit -qm x && git status --short`,
			`/usr/bin/python3 -c 'import shutil; shutil.copy2("a", "b"); shutil.copytree("..", "c", ignore=lambda *_: ["sub"])'`,
			`node -e 'fs.cpSync("a", "b", {preserveTimestamps: true})'`,
		}},
	} {
		for _, code := range c.programs {
			program, _, _ := strings.Cut(code, " ")
			if script.LookPath(program, os.Getenv("PATH")) == "" {
				continue
			}
			res := s.run(needs(c.letters), "cd "+c.dir+" && rm -rf .git * && echo x >a && "+code)
			s.wants(code, res, true)
			if len(res.Stderr) > 0 {
				t.Errorf("%s: %s", code, res.Stderr)
			}
		}
	}
}

// A program that would watch a file follows it by polling (CF-65).
func TestFollowingAFile(t *testing.T) {
	withLandlock(t)
	s := newScene(t, "declared")
	s.wants("tail -f", s.run(needs(""), `cd "$TMPDIR" && echo one >f || exit
		exec 3< <(exec tail -n +1 -s 0.02 -f f 2>/dev/null)
		tail=$!
		read -r first <&3 && echo two >>f && read -r second <&3
		kill $tail
		[[ $first$second == onetwo ]]`), true)
}

// Extras give single things (CF-17).
func TestExtras(t *testing.T) {
	withLandlock(t)
	s := newScene(t, "declared")
	port := uint16(s.port)
	ports := !slices.Contains(s.sandbox.Kernel().Lacks(&confine.Profile{Connect: []uint16{port}}), "ports")
	for _, c := range []struct {
		extras  access.Extras
		code    string
		succeed bool
	}{
		{access.Extras{Read: []string{s.other}}, `cat "$OTHER/file"`, true},
		{access.Extras{Read: []string{s.other}}, `echo >"$OTHER/new"`, false},
		{access.Extras{Read: []string{"file"}}, `cat "$PROJECT/file"`, true},
		{access.Extras{Read: []string{"~/file"}}, `cat "$SCENE/home/file"`, true},
		{access.Extras{Read: []string{"~/file"}}, `cat "$SCENE/home/program"`, false},
		{access.Extras{Write: []string{"~/sub"}}, `echo x >"$SCENE/home/sub/new" && cat "$SCENE/home/sub/new"`, true},
		{access.Extras{Write: []string{"."}}, `echo x >>"$PROJECT/file"`, true},
		{access.Extras{Write: []string{"."}}, `echo x >>"$OWN/tool.sh"`, false},
		{access.Extras{Write: []string{"tools"}}, `echo x >>"$OWN/tool.sh"`, false},
		{access.Extras{Write: []string{"/"}}, `echo x >>"$OWN/tool.sh"`, false},
		{access.Extras{Read: []string{"/"}}, `cat "$STATE/secret"`, false},
		{access.Extras{Exec: []string{"uname"}}, `uname && ! sort </dev/null`, true},
		{access.Extras{Exec: []string{"/usr/bin/uname"}}, `uname`, true},
		{access.Extras{Exec: []string{"nothing-of-this-name"}}, `uname`, false},
		{access.Extras{Exec: []string{"./program"}}, `"$PROJECT/program"`, true},
		{access.Extras{Exec: []string{"program"}}, `"$PROJECT/program"`, true},
		{access.Extras{Connect: []uint16{port}}, `"$TRY" tcp`, true},
		{access.Extras{Connect: []uint16{port ^ 1}}, `"$TRY" tcp`, false},
		{access.Extras{Connect: []uint16{port ^ 1}}, `"$TRY" fastopen`, false},
		{access.Extras{Connect: []uint16{port ^ 1}}, `"$TRY" mptcp`, false},
		{access.Extras{Connect: []uint16{port}}, `"$TRY" listen`, false},
		{access.Extras{Connect: []uint16{port}}, `"$TRY" udp`, false},
		{access.Extras{Connect: []uint16{port, 53}}, `"$TRY" udp`, true},
		{access.Extras{Connect: []uint16{port}}, `"$TRY" unix`, false},
		{access.Extras{Connect: []uint16{port}}, `"$TRY" raw`, false},
	} {
		if c.extras.Connect != nil && !ports {
			continue
		}
		d := needs("")
		d.Extras = c.extras
		s.wants(fmt.Sprintf("%+v: %s", c.extras, c.code), s.run(d, c.code), c.succeed)
	}
}

// Edit, or a path in confine.write, does not cover code anywhere below a root (CF-14), or the server's
// settings (CF-12).
func TestWhatRunsNext(t *testing.T) {
	withLandlock(t)
	for _, root := range []string{"project", ""} {
		s := newScene(t, "declared")
		s.root = filepath.Join(s.dir, root)
		for _, dir := range []string{"notes", "notes/deep", "lib", "config", ".git", "server.d"} {
			if err := os.MkdirAll(filepath.Join(s.project, dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		s.put(s.project+"/server.d/env.sh", "SECRET=1\n")
		for path, allowed := range map[string]bool{
			"notes/new": true, "notes/deep/new": true, "file": true, "tools/new": false, "server.d/new": false,
			".registry/new": false, "lib/new": false, "config/roots.json": false, ".git/hook": false, "new": false,
		} {
			s.wants("write "+path, s.run(needs("E"), `echo x >"$PROJECT/`+path+`"`), allowed)
		}
		for _, letters := range []string{"S", "E"} {
			s.wants("read the settings", s.run(needs(letters), `cat "$PROJECT/server.d/env.sh"`), false)
			s.wants("list the project", s.run(needs(letters), `"$TRY" ls "$PROJECT"`), true)
			s.wants("read a note", s.run(needs(letters), `cat "$PROJECT/file"`), true)
		}
	}
}

// A link that a script puts where a root or an extra was leads to nothing (CF-13, CF-17).
func TestLinksInTheWay(t *testing.T) {
	withLandlock(t)
	s := newScene(t, "declared")
	d := needs("S")
	d.Read = []string{"~/sub"}
	s.wants("before", s.run(d, `"$TRY" ls "$ROOT" && "$TRY" ls "$SCENE/home/sub"`), true)
	for _, dir := range []string{s.root, s.home + "/sub"} {
		if err := os.Rename(dir, dir+".moved"); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(s.other, dir); err != nil {
			t.Fatal(err)
		}
	}
	s.wants("root", s.run(d, `cat "$ROOT/file"`), false)
	s.wants("extra", s.run(d, `cat "$SCENE/home/sub/file"`), false)
}

// Other scripts than tools: with the mode "all" a provider changes nothing and reads the project, a
// hook reads all and changes nothing (CF-28, CF-29).
func TestOtherScripts(t *testing.T) {
	withLandlock(t)
	for _, mode := range []string{"declared", "all"} {
		s := newScene(t, mode)
		confined := mode == "all"
		try := func(name string, h *Confinement, err error, code string, succeed bool) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			spec := script.Spec{
				Argv: []string{"bash", "-c", code}, Dir: s.project, Timeout: 2 * time.Minute,
				Env: append(slices.Clone(s.env), "TMPDIR="+s.dir),
			}
			apply(h, &spec)
			s.wants(mode+": "+name+": "+code, s.runner.Run(context.Background(), spec), succeed || !confined)
			h.Ended()
			h.Release()
		}
		for code, succeed := range map[string]bool{
			`cat "$PROJECT/file" && uname && echo >"$TMPDIR/x"`: true, `cat "$OTHER/file"`: false,
			`echo >"$PROJECT/new"`: false,
		} {
			h, err := s.sandbox.ConfineProvider(&Subject{Name: "completion", Script: s.tool() + "/tool.sh"}, false)
			try("completion", h, err, code, succeed)
		}
		for network, succeed := range map[bool]bool{false: false, true: true} {
			h, err := s.sandbox.ConfineProvider(&Subject{Name: "provider", Script: s.tool() + "/tool.sh"}, network)
			try("provider", h, err, `"$TRY" tcp`, succeed)
		}
		for code, succeed := range map[string]bool{
			`cat "$OTHER/file" && uname && "$TRY" tcp`: true, `echo >"$PROJECT/new"`: false, `echo >"$SCENE/calls"`: true,
			`kill -0 $SERVER`: slices.Contains(s.lacks(), "signals"),
		} {
			s.put(s.dir+"/calls", "")
			h, err := s.sandbox.confineHook(&Subject{
				Name: "policy.sh", Script: s.project + "/server.d/policy.sh", Files: []string{s.dir + "/calls"},
			})
			try("hook", h, err, code, succeed)
		}
	}
}

// The private directories of scripts are bounded in number, and one that is in use stays
// (CF-11).
func TestPrivateDirectories(t *testing.T) {
	s := newScene(t, "declared")
	hold := func(i int) *Confinement {
		h, err := s.sandbox.ConfineTool(&Subject{Script: fmt.Sprintf("%s/%d.sh", s.tool(), i), Needs: needs("")})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	used := hold(0)
	for i := range mostPrivate() + 5 {
		h := hold(1 + i)
		h.Ended()
		h.Release()
	}
	if n := len(s.sandbox.private.of); n != mostPrivate()+1 {
		t.Errorf("%d directories", n)
	}
	if _, err := os.Stat(used.private.dir + "/tmp"); err != nil {
		t.Error(err)
	}
	if again := hold(0); again.private != used.private {
		t.Error("another directory")
	}
}

// An older kernel, or one without filters, enforces the restrictions that it supports. If a mode requires the
// others, the script does not run (CF-30, CF-31).
func TestOlderKernels(t *testing.T) {
	now := confine.Offered()
	kernels := []confine.Kernel{{ABI: now.ABI, Signals: now.Signals}}
	for abi := range now.ABI {
		if testing.Short() && abi%3 == 2 {
			continue
		}
		kernels = append(kernels, confine.Kernel{ABI: abi, Signals: now.Signals, Filters: now.Filters})
	}
	for _, k := range kernels {
		t.Run(fmt.Sprintf("%+v", k), func(t *testing.T) {
			t.Parallel()
			if k.None() {
				t.Skip("it can hold nothing")
			}
			s := newScene(t, "declared")
			s.sandbox.Kernel = func() confine.Kernel { return k }
			if !testing.Short() {
				s.tries("", needs(""))
			}
			s.tries("E", needs("E"))
			lacks := s.lacks()
			for what, lacking := range map[string]bool{
				"files": k.ABI < 1, "truncating files": k.ABI == 1 || k.ABI == 2, "signals": k.ABI < 6 || !k.Signals,
				"system calls": !k.Filters, "network": !k.Filters,
			} {
				if slices.Contains(lacks, what) != lacking {
					t.Errorf("it lacks %q", lacks)
				}
			}
			s.sandbox.Mode.Required = true
			_, err := s.sandbox.ConfineTool(&Subject{Name: "x", Script: s.tool() + "/tool.sh", Needs: needs("")})
			if refused := err != nil; refused != (lacks != nil) {
				t.Error(err)
			}
			if warned := len(s.logged) > 0; warned != (lacks != nil) {
				t.Errorf("logged %q", s.logged)
			}
		})
	}
}

// A declared path gives a setting of a device, and nothing that controls processes; a root or a path above gives
// neither (CF-17, CF-21).
func TestControlFilesThatAreDeclared(t *testing.T) {
	withLandlock(t)
	s := newScene(t, "declared")
	const setting, own = "/sys/kernel/mm/ksm/pages_to_scan", "/proc/self/oom_score_adj"
	write := func(file string) string { return `exec 3>>` + file }
	for _, c := range []struct {
		letters, declared, file string
		succeeds                bool
	}{
		{"", setting, setting, true}, {"F", setting, setting, true}, {"F", "", setting, false}, {"", "/", setting, false},
		{"", "/sys", setting, true}, {"", "/proc", own, false}, {"F", "/proc", own, false}, {"", "/", own, false},
		{"", "/sys", "/sys/fs/cgroup/cgroup.procs", false},
	} {
		if info, err := os.Stat(setting); err != nil || os.Geteuid() != 0 && info.Mode()&0o002 == 0 {
			c.succeeds = false
		}
		d := needs(c.letters)
		if c.declared != "" {
			d.Write = []string{c.declared}
		}
		s.wants(fmt.Sprintf("%+v", c), s.run(d, write(c.file)), c.succeeds)
	}
}
