//go:build unix

package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
)

// CLI-1712: doctor runs no install.sh that another user could have written.
func TestInstallationOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files to another user")
	}
	const nobody = 65534
	h := managed(t, cli.Version)
	installer := filepath.Join(h.root, "install.sh")
	for _, change := range []func() error{
		func() error { return os.Chmod(h.root, 0o777) },
		func() error { return os.Chown(filepath.Join(h.root, project.InstallerFile), nobody, nobody) },
		func() error { return os.Chown(h.root, nobody, nobody) },
		func() error { return os.Chmod(installer, 0o666) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		r := h.doctor(Options{Fix: true})
		if r.ExitCode != cli.ExitPolicy || r.Install.Managed ||
			!strings.Contains(r.Install.Reason, "others can change the managed root") {
			t.Errorf("CLI-1712: %d, %+v", r.ExitCode, r.Install)
		}
		if err := errors.Join(os.Chmod(h.root, 0o755), os.Chown(h.root, 0, 0), os.Chmod(installer, 0o755),
			os.Chown(filepath.Join(h.root, project.InstallerFile), 0, 0)); err != nil {
			t.Fatal(err)
		}
	}
	if r := h.doctor(Options{Fix: true}); r.ExitCode != cli.ExitOK {
		t.Errorf("%+v", r)
	}
}
