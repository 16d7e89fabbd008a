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
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/requirements"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/text/shell"
)

// fix repairs a managed installation with its own install.sh. With DryRun, it only reports what
// it would do (CLI-1110 to CLI-1112).
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

// source returns the first origin that applies (CLI-1112). Without one, it reports that and
// returns false.
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
			ensured.Command = fmt.Sprintf("ln -sf %s %s", shell.Quote(s.Target), shell.Quote(s.Path))
			ensured.Line = fmt.Sprintf("⚠ Would ensure shim: %s -> %s", s.Path, s.Target)
			e.r.Proposed = append(e.r.Proposed, ensured)
		case s.Status == "not_symlink":
			e.refuse("shim.refuse_overwrite", "Refusing to overwrite non-symlink at shim path: "+s.Path, cli.ExitFailed)
		default:
			done, err := s.make()
			if err != nil {
				e.refuse("shim.failed", err.Error(), cli.ExitFailed)
				continue
			}
			s.Status, s.Detail = shimStatus(s.Path, s.Target)
			ensured.Line = "✓ " + done
			e.r.Taken = append(e.r.Taken, ensured)
			changed = true
		}
	}
	if changed && e.r.ExitCode == cli.ExitOK {
		e.inspect()
	}
}

// make creates or replaces the link, or on Windows the wrapper, and returns what it did.
func (s *Shim) make() (done string, err error) {
	fresh := s.Path + ".mcp-bash-new"
	if err := errors.Join(os.MkdirAll(filepath.Dir(s.Path), 0o755), os.RemoveAll(fresh)); err != nil {
		return "", err
	}
	if runtime.GOOS == "windows" {
		text := "#!/bin/sh\n# " + wrapperMark + "\nexec " + shell.Quote(s.Target) + " \"$@\"\n"
		done, err = "Wrote wrapper shim at "+s.Path, os.WriteFile(fresh, []byte(text), 0o755)
	} else {
		done, err = "Updated symlink at "+s.Path, os.Symlink(s.Target, fresh)
	}
	if err != nil {
		return "", err
	}
	return done, os.Rename(fresh, s.Path)
}

// installerTime limits the time of install.sh, which may download or build.
const installerTime = 30 * time.Minute

// lockTime is how long install.sh waits for another run, in seconds (CLI-1113).
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

// installerIn returns the install.sh of an installation. The Bash edition's install.sh removes the installation before
// it has the new one. Its installations have no list of files.
func installerIn(home string) (string, error) {
	file := filepath.Join(home, "install.sh")
	for _, name := range []string{file, filepath.Join(home, filesList)} {
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
