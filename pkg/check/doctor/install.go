package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/installation"
	"mcp-bash/pkg/registry/requirements"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/text/shell"
)

// Install reports whether install.sh manages the installation.
type Install struct {
	ManagedRoot   string `json:"managedRoot"`
	MarkerPath    string `json:"markerPath"`
	MarkerPresent bool   `json:"markerPresent"`
	Managed       bool   `json:"managed"`
	Reason        string `json:"reason"` // why install.sh does not manage the installation, or ""
}

func (e *examination) managed() {
	i := &e.r.Install
	data := cmp.Or(e.o.Env["XDG_DATA_HOME"], filepath.Join(e.o.Env["HOME"], ".local", "share"))
	i.ManagedRoot = filepath.Join(data, "mcp-bash")
	i.MarkerPath = filepath.Join(e.r.Framework.Path, project.InstallerFile)
	i.MarkerPresent = isInstalled(e.r.Framework.Path)
	root, at := physical(i.ManagedRoot), physical(e.r.Framework.Path)
	switch {
	case !fsys.Within(root, at):
		i.Reason = "framework path is outside managed root"
	case at != root:
		i.Reason = "framework path does not match managed root"
	case !i.MarkerPresent:
		i.Reason = "missing marker file INSTALLER.json under managed root"
	default:
		if err := exposed(root); err != nil {
			i.Reason = "others can change the managed root: " + err.Error()
			return
		}
		i.Managed = true
	}
}

// exposed returns an error if another user can change the installation.
func exposed(root string) error {
	for _, name := range []string{"", project.InstallerFile, installation.List, "install.sh"} {
		path := filepath.Join(root, name)
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = trust.CheckOwn(path, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func physical(path string) string {
	if real, err := fsys.Physical(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// A Shim is the link, or on Windows the wrapper script, that PATH finds for a program of the installation.
type Shim struct {
	Name   string `json:"-"`
	Path   string `json:"path"`
	Target string `json:"target"`
	Status string `json:"status"` // ok, missing, broken, wrong_target, not_symlink
	Detail string `json:"detail"` // the target of the link
}

// shims checks the shims of all programs of the installation. It always checks the shim of
// mcp-bash.
func (e *examination) shims() {
	bin := cmp.Or(e.o.Env["XDG_BIN_HOME"], filepath.Join(e.o.Env["HOME"], ".local", "bin"))
	for _, name := range cli.Programs {
		target := e.locate(name)
		switch {
		case target == "" && name != cli.Programs[0]:
			continue
		case target == "":
			target = filepath.Join(e.r.Framework.Path, "bin", programName(name))
		}
		s := Shim{Name: name, Path: filepath.Join(bin, name), Target: target}
		s.Status, s.Detail = shimStatus(s.Path, target)
		if s.Status != "ok" && (name == cli.Programs[0] || e.r.Install.Managed) {
			e.add("shim.status", fmt.Sprintf("Shim is not ok (%s): %s", s.Status, s.Path), "")
		}
		e.r.Shims = append(e.r.Shims, s)
	}
	e.r.Shim = &e.r.Shims[0]
}

func shimStatus(path, target string) (status, detail string) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "missing", ""
	case err != nil:
		return "broken", fsys.Cause(err).Error()
	case info.Mode()&fs.ModeSymlink == 0:
		if runtime.GOOS == "windows" && installation.IsWrapper(path) {
			return "ok", ""
		}
		return "not_symlink", ""
	}
	link, _ := os.Readlink(path)
	switch _, err := os.Stat(path); {
	case fsys.Same(path, target):
		return "ok", link
	case err != nil:
		return "broken", link
	}
	return "wrong_target", link
}

// fix repairs a managed installation with its own install.sh. With DryRun, it only reports what it would do.
func (e *examination) fix() {
	if !e.r.Install.Managed {
		e.r.Proposed = append(e.r.Proposed, Action{ID: "policy.refuse_user_managed",
			Message: "Refusing: user-managed install (managed install required for --fix)",
			Line:    "✗ Refusing: user-managed install (managed install required for --fix)"})
		e.r.ExitCode = cli.ExitPolicy
		return
	}
	if e.tooOld() || e.o.Archive != "" || e.o.Ref != "" {
		e.upgrade()
	}
	if e.r.ExitCode == cli.ExitOK {
		e.fixShims()
	}
}

// refuse adds a finding about an action that failed.
func (e *examination) refuse(id, message string, exit int) {
	e.add(id, message, "")
	e.r.Taken = append(e.r.Taken, Action{ID: id, Message: message, Line: "✗ " + message})
	e.r.ExitCode = exit
}

type source struct {
	name string   // for people
	args []string // of install.sh
	env  project.Env
}

// source returns the first source of an installation that applies. Without one, it adds a finding and returns false.
func (e *examination) source() (s source, ok bool) {
	o, env := &e.o, e.o.Env
	local := cmp.Or(env["MCPBASH_DOCTOR_LOCAL_SOURCE"], env["MCPBASH_INSTALL_LOCAL_SOURCE"])
	switch {
	case o.Archive != "" && !isSHA256(o.Verify):
		e.refuse("self.upgrade_verify_missing", "--archive requires --verify SHA256", cli.ExitUsage)
		return source{}, false
	case o.Archive != "":
		name := secrets.Text(strings.TrimPrefix(o.Archive, "file://"))
		return source{name: name, args: []string{"--archive", o.Archive, "--verify", o.Verify}}, true
	case strings.Count(o.Ref, ".") == 2 && requirements.IsVersion(o.Ref):
		return source{name: "release v" + strings.TrimPrefix(o.Ref, "v"), args: []string{"--ref", o.Ref}}, true
	case o.Ref != "":
		return source{name: "git " + o.Ref, args: []string{"--ref", o.Ref}}, true
	case local != "":
		return source{name: local,
			env: project.Env{"MCPBASH_INSTALL_LOCAL_SOURCE": local, "MCPBASH_INSTALL_ARCHIVE_URL": ""}}, true
	}
	releases := "no address of releases is known; set MCPBASH_RELEASE_BASE_URL to use --ref"
	if base := project.Releases(env, e.r.Install.ManagedRoot); base != "" {
		releases = "the releases are at " + secrets.Text(base)
	}
	e.refuse("self.upgrade_source_missing", "Upgrade required but no source provided "+
		"(use --archive+--verify, --ref, or MCPBASH_DOCTOR_LOCAL_SOURCE)", cli.ExitUsage)
	e.r.Taken[len(e.r.Taken)-1].Output = releases + "\n"
	return source{}, false
}

func isSHA256(text string) bool {
	return len(text) == 64 && strings.Trim(strings.ToLower(text), "0123456789abcdef") == ""
}

func (e *examination) upgrade() {
	from, ok := e.source()
	switch {
	case !ok:
		return
	case !e.o.Fix:
		e.r.Proposed = append(e.r.Proposed, Action{ID: "self.upgrade",
			Message: fmt.Sprintf("Upgrade %s from %s", e.r.Install.ManagedRoot, from.name),
			Line:    "⚠ Would upgrade managed install from " + from.name})
		return
	}
	args := from.args
	if e.o.MinVersion != "" {
		args = append(args, "--min-version", e.o.MinVersion)
	}
	if e.o.AllowDowngrade {
		args = append(args, "--allow-downgrade")
	}
	printed, message, status := e.installer(from.env, args...)
	switch status {
	case cli.ExitOK:
		e.version = readVersion(e.r.Framework.Path)
		e.inspect()
		done := "Updated managed install to version " + e.r.Framework.Version
		e.r.Taken = append(e.r.Taken, Action{ID: "self.upgrade", Message: done, Line: "✓ " + done, Output: printed})
	case cli.ExitPolicy:
		e.refuse("self.upgrade_downgrade_refused", message, cli.ExitPolicy)
	default:
		e.refuse("self.upgrade_failed", message, cli.ExitFailed)
	}
}

func (e *examination) fixShims() {
	changed := false
	for i := range e.r.Shims {
		s := &e.r.Shims[i]
		s.Status, s.Detail = shimStatus(s.Path, s.Target)
		ensured := Action{ID: "shim.ensure", Message: fmt.Sprintf("Ensure %s points to %s", s.Path, s.Target)}
		switch {
		case s.Status == "ok":
		case !e.o.Fix:
			ensured.Command = new("ln -sf " + shell.Quote(s.Target) + " " + shell.Quote(s.Path))
			ensured.Line = fmt.Sprintf("⚠ Would ensure shim: %s -> %s", s.Path, s.Target)
			e.r.Proposed = append(e.r.Proposed, ensured)
		case s.Status == "not_symlink":
			e.refuse("shim.refuse_overwrite", "Refusing to overwrite non-symlink at shim path: "+s.Path, cli.ExitFailed)
		default:
			if err := installation.Link(s.Target, s.Path, runtime.GOOS == "windows"); err != nil {
				e.refuse("shim.failed", err.Error(), cli.ExitFailed)
				continue
			}
			s.Status, s.Detail = shimStatus(s.Path, s.Target)
			ensured.Line = "✓ Updated symlink at " + s.Path
			e.r.Taken = append(e.r.Taken, ensured)
			changed = true
		}
	}
	if changed && e.r.ExitCode == cli.ExitOK {
		e.inspect()
	}
}

// installerTime limits the time of install.sh, which may download or build.
const installerTime = 30 * time.Minute

// lockTime is how long install.sh waits for another run, in seconds.
const lockTime = "10"

// installer runs the install.sh of the installation. It returns standard output, standard error
// as one line without secrets, and the exit status.
func (e *examination) installer(more project.Env, args ...string) (printed, message string, status int) {
	file, err := installerIn(physical(e.r.Install.ManagedRoot))
	if err != nil {
		return "", err.Error(), cli.ExitFailed
	}
	env := e.o.Env.Clone()
	delete(env, "MCPBASH_HOME") // install.sh refuses to replace the installation that it names
	env["MCPBASH_DOCTOR_LOCK_TIMEOUT_SECS"] = cmp.Or(env["MCPBASH_DOCTOR_LOCK_TIMEOUT_SECS"], lockTime)
	maps.Copy(env, more)
	res := e.runner.Run(e.ctx, script.Spec{
		Argv: append([]string{"sh", file, "--yes", "--quiet", "--no-modify-path"}, args...),
		Dir:  e.o.Dir, Env: env.Entries(), Timeout: installerTime, StdoutLimit: 1 << 20, StderrLimit: 1 << 20,
	})
	if res.Cause != nil {
		return "", "install.sh: " + res.Cause.Error(), cli.ExitFailed
	}
	var lines []string
	for line := range strings.Lines(strings.TrimPrefix(string(res.Stderr), "✗ ")) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return secrets.Text(string(res.Stdout)), secrets.Text(strings.Join(lines, "; ")), res.Status
}

// installerIn returns the install.sh of an installation. The one of the Bash edition removes the installation before it
// has a new one, so it is an error. Its installations have no list of files.
func installerIn(home string) (string, error) {
	file := filepath.Join(home, "install.sh")
	for _, name := range []string{file, filepath.Join(home, installation.List)} {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return "", errors.New("not in this installation: " + name + "; run install.sh of a release")
		}
	}
	return file, nil
}

func readVersion(dir string) string {
	text, err := boundedfile.Read(filepath.Join(dir, "VERSION"), 1<<10)
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(text)), "")
}

// An Upgrade describes how an installation gets its next version.
type Upgrade struct {
	OK      bool   `json:"ok"`
	Home    string `json:"path"`
	Version string `json:"version"`
	How     string `json:"installedBy"` // for people
	Command string `json:"command"`     // the command that installs the next version, or "" if unknown
	Runs    bool   `json:"runs"`        // whether this program runs the command (Argv in Env) itself

	Argv []string    `json:"-"`
	Env  project.Env `json:"-"`
}

// managers are the package managers, in the order in which they are tried. A part of the installation's path and a file
// at a path relative to it identify each.
var managers = []struct{ part, file, name, command string }{
	{"/Cellar/mcp-bash/", "", "Homebrew", "brew upgrade mcp-bash"},
	{"/_npx/", "", "npx", "npx -y mcp-bash@latest"},
	{"/lib/node_modules/", "", "npm", "npm install -g mcp-bash@latest"},
	{"/node_modules/", "", "npm", "npm install mcp-bash@latest"},
	{"/pipx/venvs/", "", "pipx", "pipx upgrade mcp-bash"},
	{"/uv/tools/", "", "uv", "uv tool upgrade mcp-bash"},
	{"", "lib/python3*/*-packages/mcp_bash-*.dist-info", "pip", "pip install --upgrade mcp-bash"},
	{"", "vendor.json", "mcp-bash vendor", "mcp-bash vendor --upgrade"},
	{"", "cmd/mcp-bash/main.go", "make build", "git pull && make build"},
	{"/usr/lib/mcp-bash/", "../../../var/lib/dpkg/info/mcp-bash.list", "dpkg",
		"sudo dpkg -i mcp-bash_VERSION_" + runtime.GOARCH + ".deb"},
	{"/usr/lib/mcp-bash/", "", "rpm", "sudo rpm -U mcp-bash-VERSION-1.ARCH.rpm"},
}

// PlanUpgrade describes the origin of this installation, and how to install its next version. With check, the command
// of the plan only asks for the version.
func PlanUpgrade(env project.Env, check bool) (*Upgrade, error) {
	home := cmp.Or(project.InstalledHome(env), ownHome())
	u := &Upgrade{OK: true, Home: home, Version: cmp.Or(readVersion(home), cli.Version), How: "hand", Env: env.Clone()}
	if isInstalled(home) {
		return u, u.byInstaller(check)
	}
	for _, m := range managers {
		found, _ := filepath.Glob(filepath.Join(home, filepath.FromSlash(m.file)))
		if strings.Contains(filepath.ToSlash(home)+"/", m.part) && (m.file == "" || len(found) > 0) {
			u.How, u.Command = m.name, m.command
			break
		}
	}
	return u, nil
}

// byInstaller plans a run of the installation's install.sh, with the source that its record names.
func (u *Upgrade) byInstaller(check bool) error {
	file, err := installerIn(u.Home)
	if err == nil {
		err = exposed(physical(u.Home))
	}
	if err != nil {
		return &cli.Error{Code: cli.CodePolicy, Cause: err, Exit: cli.ExitPolicy}
	}
	record := project.Record(u.Home)
	from, source := rawjson.TextOf(record, "from"), rawjson.TextOf(record, "source")
	releases, checkout := project.Releases(u.Env, u.Home), rawjson.TextOf(record, "checkout")
	if source == "release" {
		releases = cmp.Or(releases, from)
	}
	u.Runs, u.Argv = true, []string{"sh", file, "--yes", "--no-modify-path"}
	usual := cmp.Or(u.Env["XDG_DATA_HOME"], filepath.Join(u.Env["HOME"], ".local", "share"))
	if data := filepath.Dir(u.Home); filepath.Base(data) == "share" && physical(data) != physical(usual) {
		u.Argv = append(u.Argv, "--prefix", filepath.Dir(data))
	}
	variable, value := "MCPBASH_RELEASE_BASE_URL", releases
	switch ref := rawjson.TextOf(record, "ref"); {
	case checkout != "":
		variable, value = "MCPBASH_INSTALL_LOCAL_SOURCE", checkout
	case source == "git":
		variable, value = "MCPBASH_INSTALL_REPO_URL", cmp.Or(u.Env["MCPBASH_INSTALL_REPO_URL"], from)
		u.Argv = append(u.Argv, "--ref", ref)
	case releases == "":
		return cli.Failf(cli.CodeNotFound, "no address of releases is known; %s was installed from %s", u.Home,
			cmp.Or(from, "an archive")).WithHint("download the archive of the next version, then run: sh %s --archive FILE",
			shell.Quote(file))
	default:
		u.Argv = append(u.Argv, "--version", "latest")
		if key := rawjson.TextOf(record, "key"); key != "" {
			u.Argv = append(u.Argv, "--verify-signature", key)
		}
		if check {
			u.Argv = append(u.Argv, "--check")
		}
	}
	if check && variable != "MCPBASH_RELEASE_BASE_URL" {
		return cli.Failf(cli.CodeNotFound, "only releases can be compared; this was installed from %s", secrets.Text(value))
	}
	for _, other := range []string{"MCPBASH_HOME", "MCPBASH_INSTALL_ARCHIVE_URL", "MCPBASH_INSTALL_LOCAL_SOURCE"} {
		delete(u.Env, other) // install.sh would prefer these variables
	}
	u.Env[variable] = value
	u.How, u.Command = "install.sh from "+secrets.Text(value), variable+"="+shell.Quote(secrets.Text(value))
	for _, word := range u.Argv {
		u.Command += " " + shell.Quote(word)
	}
	return nil
}
