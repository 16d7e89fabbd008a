//go:build registry && linux

package registry

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// The registry, in the version whose answers the tests expect. Its own choice of huma is not on the module proxy.
const (
	version = "v1.8.9"
	module  = `module mcp-bash-test-registry

go 1.26

require github.com/modelcontextprotocol/registry ` + version + `

replace github.com/danielgtaylor/huma/v2 => github.com/danielgtaylor/huma/v2 v2.39.0

tool github.com/modelcontextprotocol/registry/cmd/registry
`
)

// inside is the variable by which the test knows that it runs in its namespaces. Its value is a folder with the
// commands and the registry.
const inside = "REGISTRY_TEST_PROGRAMS"

// address is the address of all hosts. It is reserved for documentation.
const address = "203.0.113.10"

// hosts are the names that lead to the test.
var hosts = []string{
	"registry.modelcontextprotocol.io", "token.actions.githubusercontent.com", "registry.npmjs.org", "pypi.org", "ghcr.io",
	"github.com",
}

func TestMain(m *testing.M) {
	if os.Getenv(inside) != "" {
		if err := enclose(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(m.Run())
	}
	if os.Getuid() != 0 {
		fmt.Println("left out: the network namespace of the test needs root")
		return
	}
	code, err := outside()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// outside builds the programs and runs the tests in namespaces. It returns the exit code.
func outside() (code int, err error) {
	dir, err := os.MkdirTemp("", "mcp-bash-test.")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	registry, err := build()
	if err != nil {
		return 1, err
	}
	err = errors.Join(checkout.Build(dir, checkout.Commands), os.Symlink(registry, filepath.Join(dir, "registry")))
	if err != nil {
		return 1, err
	}
	cmd := exec.Command("unshare", append([]string{"-n", "-m", os.Args[0]}, os.Args[1:]...)...)
	cmd.Env = append(os.Environ(), inside+"="+dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return 1, err
	}
	return 0, nil
}

// build builds the registry into a cache folder, which takes minutes once, and returns its path.
func build() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "mcp-bash-test-registry", version)
	program := filepath.Join(dir, "registry")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o644); err != nil {
		return "", err
	}
	for _, args := range [][]string{{"mod", "tidy"},
		{"build", "-o", program + ".new", "github.com/modelcontextprotocol/registry/cmd/registry"}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return program, os.Rename(program+".new", program)
}

// enclose gives the namespaces their address and the names of the hosts.
func enclose() error {
	names, err := os.CreateTemp("", "hosts.")
	if err != nil {
		return err
	}
	defer os.Remove(names.Name())
	if _, err := fmt.Fprintf(names, "127.0.0.1 localhost\n%s %s\n", address, strings.Join(hosts, " ")); err != nil {
		return err
	}
	if err := errors.Join(names.Chmod(0o644), names.Close()); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"mount", "--make-rprivate", "/"}, {"mount", "--bind", names.Name(), "/etc/hosts"},
		{"ip", "link", "set", "lo", "up"}, {"ip", "address", "add", address + "/32", "dev", "lo"},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}
