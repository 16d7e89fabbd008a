//go:build unix

package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcp-bash/pkg/cli"
)

// CLI-1713: an upgrade keeps what the user put into the installation, and what the user changed.
func TestKeepOwn(t *testing.T) {
	h := managed(t, "9.0.0")
	at := func(name string) string { return filepath.Join(h.root, filepath.FromSlash(name)) }
	put(t, at("runtimes/linux-arm64/mcp-bash"), "a server")
	put(t, at("sdk/mine.sh"), "mine")
	put(t, at("sdk/new.sh"), "mine")
	put(t, at("lib/x.sh"), "changed")
	if err := errors.Join(os.Chmod(at("runtimes"), 0o700), os.Symlink("/none", at("link")), syscall.Mkfifo(at("pipe"),
		0o600),
		os.Mkdir(at("empty"), 0o750), os.Chmod(at("sdk/mine.sh"), 0o600)); err != nil {
		t.Fatal(err)
	}
	content := release(t, "9.1.0", false, file("mcp-bash/sdk/new.sh", "ours"))
	r := h.upgraded(content, sum(content), Options{})
	if h.version() != "9.1.0" {
		t.Fatalf("%+v", r)
	}
	for name, want := range map[string]string{"runtimes/linux-arm64/mcp-bash": "a server", "sdk/mine.sh": "mine",
		"sdk/new.sh": "ours", "sdk/new.sh.saved": "mine", "lib/x.sh": "", "lib/x.sh.saved": "changed"} {
		if got, err := os.ReadFile(at(name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, want := range map[string]os.FileMode{"runtimes": 0o700 | os.ModeDir, "empty": 0o750 | os.ModeDir,
		"pipe": 0o600 | os.ModeNamedPipe, "sdk/mine.sh": 0o600} {
		if info, err := os.Lstat(at(name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if target, err := os.Readlink(at("link")); err != nil || target != "/none" {
		t.Errorf("%q, %v", target, err)
	}
	for _, want := range []string{"Kept, as it is yours: " + at("runtimes"),
		"Changed by you, and kept as x.sh.saved: " + at("lib/x.sh")} {
		if !slices.ContainsFunc(r.Taken, func(a Action) bool { return a.ID == "self.keep" && a.Message == want }) {
			t.Errorf("it does not say %q: %+v", want, r.Taken)
		}
	}
	h.unchanged("9.1.0")

	// Of an installation without a list everything is kept.
	if err := os.Remove(at(filesList)); err != nil {
		t.Fatal(err)
	}
	content = release(t, "9.2.0", false)
	r = h.upgraded(content, sum(content), Options{})
	backups, err := filepath.Glob(h.root + ".backup.*")
	if err != nil || len(backups) != 1 || h.version() != "9.2.0" {
		t.Fatalf("%q, %+v", backups, r)
	}
	if got, err := os.ReadFile(filepath.Join(backups[0], "sdk/mine.sh")); err != nil || string(got) != "mine" {
		t.Errorf("%q, %v", got, err)
	}
}

// CLI-1113, CLI-1712: a lock, and an installation, that somebody else can have put there are not believed.
func TestOfOthers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can have another user plant files")
	}
	const mallory = 65534
	h := managed(t, cli.Version)
	lock := h.root + ".doctor.fix.lock"
	put(t, filepath.Join(lock, pidFile), "999999999\n") // of no process
	old := time.Now().Add(-time.Hour)
	if err := errors.Join(os.Chown(lock, mallory, mallory), os.Chtimes(lock, old, old)); err != nil {
		t.Fatal(err)
	}
	r := h.doctor(Options{Fix: true})
	wantFailure(t, r, "shim.lock_timeout", cli.ExitFailed)
	if _, err := os.Stat(filepath.Join(lock, pidFile)); err != nil {
		t.Error("it removed what is somebody else's")
	}
	if err := errors.Join(os.RemoveAll(lock), os.Symlink("mcp-bash", lock)); err != nil {
		t.Fatal(err)
	}
	wantFailure(t, h.doctor(Options{Fix: true}), "shim.lock_timeout", cli.ExitFailed)
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func() error{
		func() error { return os.Chmod(h.root, 0o777) },
		func() error { return os.Chown(filepath.Join(h.root, marker), mallory, mallory) },
		func() error { return os.Chown(h.root, mallory, mallory) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		r := h.doctor(Options{Fix: true})
		if r.ExitCode != cli.ExitPolicy || r.Install.Managed || !strings.Contains(r.Install.Reason,
			"others can change the managed root") {
			t.Errorf("%d, %+v", r.ExitCode, r.Install)
		}
		if err := errors.Join(os.Chmod(h.root, 0o755), os.Chown(h.root, 0, 0), os.Chown(filepath.Join(h.root, marker), 0,
			0)); err != nil {
			t.Fatal(err)
		}
	}
	if r := h.doctor(Options{Fix: true}); r.ExitCode != cli.ExitOK {
		t.Errorf("%+v", r)
	}
}
