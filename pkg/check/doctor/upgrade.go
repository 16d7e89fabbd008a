package doctor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/check/validate"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/swap"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/secrets"
)

// mend does what Fix asks for, or tells what it would do (CLI-1110 to CLI-1113).
func (e *examination) mend() {
	if !e.r.Install.Managed {
		e.r.Proposed = append(e.r.Proposed, Action{ID: "policy.refuse_user_managed",
			Message: "Refusing: user-managed install (managed install required for --fix)",
			Line:    "✗ Refusing: user-managed install (managed install required for --fix)"})
		e.r.ExitCode = cli.ExitPolicy
		return
	}
	upgrade := e.tooOld() || e.o.Archive != "" || e.o.Ref != ""
	var from *source
	if upgrade {
		var err error
		if from, err = e.source(); err != nil {
			e.fail(err)
			return
		}
	}
	if e.o.Fix {
		lock, err := takeLock(e.ctx, e.r.Install.ManagedRoot, e.o.Env)
		if err != nil {
			id := "shim.lock_timeout"
			if upgrade {
				id = "self.upgrade_lock_timeout"
			}
			message := err.Error()
			if errors.Is(err, errLocked) {
				message = "Timed out waiting for doctor fix lock: " + lock.dir
			}
			e.fail(&failure{id, message, cli.ExitFailed})
			return
		}
		defer lock.release()
	}
	if upgrade && !e.upgrade(from) {
		return
	}
	if !e.ensureShims() {
		e.r.ExitCode = cli.ExitFailed
	}
}

// A failure is a step that went wrong: a finding, and an exit code.
type failure struct {
	id, message string
	exit        int
}

func (f *failure) Error() string { return f.message }

// fail notes a failure.
func (e *examination) fail(err error) {
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{"self.upgrade_stage_failed", err.Error(), cli.ExitFailed}
	}
	e.refuse(f.id, secrets.Text(f.message)) // addresses may hold a login
	e.r.ExitCode = f.exit
}

// refuse notes a finding that belongs to the actions.
func (e *examination) refuse(id, message string) {
	e.add(id, message, "")
	e.r.Taken = append(e.r.Taken, Action{ID: id, Message: message, Line: "✗ " + message})
}

// A source is where the other version comes from.
type source struct {
	kind   string // archive, release, git, local
	place  string // a file, an address or a directory
	ref    string
	verify string // the SHA-256 that it must have; "" for none
}

// isCommit reports whether a text can be the beginning of a commit's hash, isRelease whether
// it is the version of a release.
func isCommit(ref string) bool {
	return len(ref) >= 7 && len(ref) <= 40 && strings.Trim(ref, "0123456789abcdef") == ""
}

func isRelease(ref string) bool { return strings.Count(ref, ".") == 2 && validate.IsVersion(ref) }

// source returns the first that applies (CLI-1112).
func (e *examination) source() (*source, error) {
	o, env := &e.o, e.o.Env
	local := env["MCPBASH_DOCTOR_LOCAL_SOURCE"]
	if local == "" {
		local = env["MCPBASH_INSTALL_LOCAL_SOURCE"]
	}
	switch {
	case o.Archive != "" && o.Verify == "":
		return nil, &failure{"self.upgrade_verify_missing", "--archive requires --verify SHA256", cli.ExitUsage}
	case o.Archive != "":
		place := strings.TrimPrefix(o.Archive, "file://")
		return &source{kind: "archive", place: place, verify: strings.ToLower(o.Verify)}, nil
	case isRelease(o.Ref):
		tag := "v" + strings.TrimPrefix(o.Ref, "v")
		return &source{kind: "release", ref: tag, place: env["MCPBASH_RELEASE_BASE_URL"]}, nil
	case o.Ref != "":
		return &source{kind: "git", ref: o.Ref, place: env["MCPBASH_INSTALL_REPO_URL"]}, nil
	case local != "":
		return &source{kind: "local", place: local}, nil
	}
	return nil, &failure{"self.upgrade_source_missing", "Upgrade required but no source provided " +
		"(use --archive+--verify, --ref, or MCPBASH_DOCTOR_LOCAL_SOURCE)", cli.ExitUsage}
}

// upgrade puts another version into place, or tells that it would; false when it failed.
func (e *examination) upgrade(from *source) bool {
	a := Action{ID: "self.upgrade", Message: fmt.Sprintf("Upgrade %s from %s", e.r.Install.ManagedRoot, from),
		Line: fmt.Sprintf("⚠ Would upgrade managed install from %s", from)}
	if !e.o.Fix {
		e.r.Proposed = append(e.r.Proposed, a)
		return true
	}
	// Another process may have done it while this one waited for the lock.
	live := e.version(e.r.Framework.Path)
	if e.o.Archive == "" && e.o.Ref == "" && !older(live, e.o.MinVersion) {
		return true
	}
	version, err := e.replace(from, live)
	if err != nil {
		e.fail(err)
		return false
	}
	a.Line = "✓ Updated managed install to version " + version
	a.Message = "Updated managed install to version " + version
	e.r.Taken = append(e.r.Taken, a)
	e.r.Framework.Version = version
	return true
}

func (s *source) String() string {
	if s.kind == "release" || s.kind == "git" {
		return s.kind + " " + s.ref
	}
	return secrets.Text(s.place)
}

func (e *examination) version(dir string) string {
	text, err := boundedfile.Read(filepath.Join(dir, "VERSION"), 1<<10)
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(text)), "")
}

// replace stages the other version beside the installation, looks at it, and swaps the two.
func (e *examination) replace(from *source, live string) (version string, err error) {
	root := physical(e.r.Install.ManagedRoot)
	stage, err := os.MkdirTemp(filepath.Dir(root), ".mcp-bash.stage.")
	if err != nil {
		return "", &failure{"self.upgrade_stage_failed", "no place to stage: " + fsys.Cause(err).Error(),
			cli.ExitFailed}
	}
	defer os.RemoveAll(stage)
	if err := os.Chmod(stage, 0o755); err != nil {
		return "", err
	}
	commit, err := e.fill(from, stage)
	if err != nil {
		return "", err
	}
	for _, name := range []string{"VERSION", path.Join("bin", programName("mcp-bash")), "sdk/tool-sdk.sh"} {
		if info, err := os.Lstat(filepath.Join(stage, filepath.FromSlash(name))); err != nil || !info.Mode().IsRegular() {
			return "", &failure{"self.upgrade_stage_invalid", "what was staged is no installation: it has no " + name,
				cli.ExitFailed}
		}
	}
	version = e.version(stage)
	switch {
	case e.o.MinVersion != "" && older(version, e.o.MinVersion):
		return "", &failure{"self.upgrade_stage_too_old",
			fmt.Sprintf("what was staged is too old: %s < %s", version, e.o.MinVersion), cli.ExitFailed}
	case older(version, live) && !e.o.AllowDowngrade:
		return "", &failure{"self.upgrade_downgrade_refused",
			fmt.Sprintf("Refusing to downgrade from %s to %s (use --allow-downgrade)", live, version), cli.ExitPolicy}
	}
	if err := errors.Join(writeMarker(stage, from, version, commit), listFiles(stage)); err != nil {
		return "", err
	}
	kept, listed, err := keepOwn(root, stage)
	if err != nil {
		return "", err
	}
	if err := context.Cause(e.ctx); err != nil { // from here on it is done to its end
		return "", err
	}
	backup, err := replaceInstall(root, stage, !listed || e.o.Env["MCPBASH_DOCTOR_KEEP_BACKUP"] == "true")
	if err != nil {
		return "", err
	}
	if !listed {
		message := "The old installation does not list its files, and is kept: " + backup
		kept = append(kept, Action{ID: "self.keep", Message: message, Line: "⚠ " + message})
	}
	e.r.Taken = append(e.r.Taken, kept...)
	return version, nil
}

// writeMarker is CLI-1708.
func writeMarker(stage string, from *source, version, commit string) error {
	var b rawjson.Builder
	b.Object().Name("managed").Bool(true).Name("installedAt").String(time.Now().UTC().Format(time.RFC3339)).
		Name("source").String(from.kind).Name("ref").String(from.ref).Name("version").String(version).
		Name("commit").String(commit).Name("verified").Bool(from.verify != "")
	return os.WriteFile(filepath.Join(stage, marker), append(b.End().Bytes(), '\n'), 0o644)
}

// replaceInstall puts the staged tree into the place of the installation, which is kept as a
// backup where that is asked for.
func replaceInstall(root, stage string, keep bool) (backup string, err error) {
	backup = fmt.Sprintf("%s.backup.%d.%d", root, time.Now().Unix(), os.Getpid())
	old, err := swap.Replace(root, stage, backup)
	switch {
	case err == nil && old != "" && !keep:
		os.RemoveAll(old) // what is left of it harms nobody
	case err == nil && old != "" && old != backup:
		err = os.Rename(old, backup)
	}
	if err != nil {
		return "", &failure{"self.upgrade_swap_failed", "the new version could not be put into place: " + err.Error(),
			cli.ExitFailed}
	}
	return backup, nil
}

// maxArchive is how large an archive may be, in bytes.
const maxArchive = 256 << 20

// fill puts the other version into the stage.
func (e *examination) fill(from *source, stage string) (commit string, err error) {
	switch from.kind {
	case "local":
		return "", copyTree(e.ctx, from.place, stage)
	case "git":
		return e.clone(from, stage)
	case "release":
		if err := e.findRelease(from); err != nil {
			return "", err
		}
	}
	file, err := e.fetch(from)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	switch n, err := io.Copy(hash, io.LimitReader(file, maxArchive+1)); {
	case err != nil:
		return "", &failure{"self.upgrade_download_failed", err.Error(), cli.ExitFailed}
	case n > maxArchive:
		return "", invalid("%s: larger than %d MB", from.place, maxArchive>>20)
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != from.verify {
		return "", &failure{"self.upgrade_verify_failed", fmt.Sprintf(
			"SHA256 checksum verification failed for: %s (expected %s, got %s)", from.place, from.verify, got), cli.ExitFailed}
	}
	return "", unpack(e.ctx, file, stage)
}

// findRelease looks up where the archive of a release for this machine is, and its checksum.
func (e *examination) findRelease(from *source) error {
	if from.place == "" {
		return &failure{"self.upgrade_download_failed", "MCPBASH_RELEASE_BASE_URL must say where releases are",
			cli.ExitFailed}
	}
	base := strings.TrimSuffix(from.place, "/") + "/" + from.ref
	sums, err := runtimes.Fetch(e.ctx, base+"/SHA256SUMS", 1<<20)
	if err != nil {
		return &failure{"self.upgrade_download_failed", err.Error(), cli.ExitFailed}
	}
	name := runtimes.Host.Archive(from.ref)
	from.place, from.verify = base+"/"+name, runtimes.SumOf(string(sums), name)
	if from.verify == "" {
		return &failure{"self.upgrade_verify_failed", "SHA256SUMS missing entry for " + name, cli.ExitFailed}
	}
	return nil
}

// fetch opens the archive: a file as it lies there, which is never changed or removed
// (CLI-1114), or a private copy of a download.
func (e *examination) fetch(from *source) (*os.File, error) {
	if !strings.HasPrefix(from.place, "http://") && !strings.HasPrefix(from.place, "https://") {
		dir, err := os.OpenRoot(filepath.Dir(from.place))
		if err == nil {
			defer dir.Close()
			var f *os.File
			if f, err = boundedfile.OpenIn(dir, filepath.Base(from.place)); err == nil {
				return f, nil
			}
		}
		return nil, &failure{"self.upgrade_stage_failed", from.place + ": " + fsys.Cause(err).Error(), cli.ExitFailed}
	}
	content, err := runtimes.Fetch(e.ctx, from.place, maxArchive)
	if err != nil {
		return nil, &failure{"self.upgrade_download_failed", err.Error(), cli.ExitFailed}
	}
	f, err := os.CreateTemp("", "mcp-bash.archive.")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name())
	if _, err = f.Write(content); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

const cloneTime = 5 * time.Minute

// clone gets a branch, a tag or a commit with git.
func (e *examination) clone(from *source, stage string) (commit string, err error) {
	git := script.LookPath("git", e.o.Env["PATH"])
	if git == "" {
		return "", &failure{"self.upgrade_git_missing", "git not found; --archive or --ref vX.Y.Z need none", cli.ExitFailed}
	}
	if from.place == "" {
		return "", &failure{"self.upgrade_git_failed", "MCPBASH_INSTALL_REPO_URL must say where the repository is",
			cli.ExitFailed}
	}
	env := e.o.Env.Clone()
	env["GIT_TERMINAL_PROMPT"] = "0"
	run := func(args ...string) (string, error) {
		res := e.runner.Run(e.ctx, script.Spec{Argv: append([]string{git}, args...), Env: env.Entries(), Dir: stage,
			Timeout: cloneTime, StdoutLimit: 1 << 20, StderrLimit: 1 << 20})
		if res.Status != 0 || res.Cause != nil {
			message := fmt.Sprintf("git %s: %s", args[0], strings.TrimSpace(string(res.Stderr)))
			return "", &failure{"self.upgrade_git_failed", message, cli.ExitFailed}
		}
		return strings.TrimSpace(string(res.Stdout)), nil
	}
	if strings.HasPrefix(from.ref, "-") {
		return "", &failure{"self.upgrade_git_failed", "no branch, tag or commit: " + from.ref, cli.ExitUsage}
	}
	clone := []string{"clone", "--quiet", "--no-checkout", "--", from.place, "."}
	if _, err := run(clone...); err != nil {
		return "", err
	}
	ref := from.ref
	if !isCommit(ref) {
		if _, err := run("rev-parse", "--verify", "--quiet", "origin/"+ref); err == nil {
			ref = "origin/" + ref
		}
	}
	if _, err := run("checkout", "--quiet", "--detach", ref, "--"); err != nil {
		return "", err
	}
	if commit, err = run("rev-parse", "HEAD"); err != nil {
		return "", err
	}
	return commit, os.RemoveAll(filepath.Join(stage, ".git"))
}
