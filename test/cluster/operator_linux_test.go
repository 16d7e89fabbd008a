//go:build cluster

package cluster

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/test/checkout"
	"mcp-bash/test/load"
	"mcp-bash/test/servertest"
)

// An operator types blocks of docs/DEPLOY.md into a shell.
type operator struct {
	t    *testing.T
	home string
	dir  string // where the operator types
	path string // a folder of programs that are found first
}

// newOperator returns an operator at home, where a folder has the project of the load.
func newOperator(t *testing.T, project string) *operator {
	t.Helper()
	o := &operator{t: t, home: checkout.Directory(t), path: checkout.Directory(t)}
	o.dir = o.home
	if err := load.WriteProject(filepath.Join(o.home, project)); err != nil {
		t.Fatal(err)
	}
	podman := "exec podman --runtime " + filepath.Join(checkout.Root(), "test", "cluster", "oci-runtime.sh") + ` "$@"`
	o.program("podman", "PATH=${PATH#*:}\n"+podman)
	o.program("docker", "PATH=${PATH#*:}\n"+podman)
	o.program("sudo", `exec "$@"`)
	return o
}

// in returns the same operator for a subtest.
func (o *operator) in(t *testing.T) *operator { return &operator{t, o.home, o.dir, o.path} }

// program writes a program that is found before others.
func (o *operator) program(name, script string) {
	o.t.Helper()
	if err := os.WriteFile(filepath.Join(o.path, name), []byte("#!/bin/bash\n"+script+"\n"), 0o755); err != nil {
		o.t.Fatal(err)
	}
}

// shell returns a shell that runs commands.
func (o *operator) shell(commands string) *exec.Cmd {
	cmd := exec.Command("bash", "-euc", "set -o pipefail\n"+commands)
	cmd.Dir = o.dir
	cache, err := os.UserCacheDir()
	if err != nil {
		o.t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "HOME="+o.home, "XDG_CACHE_HOME="+cache,
		"PATH="+o.path+":"+bin+":"+os.Getenv("PATH"), "MCPBASH_RUNTIME_DIR="+programs(o.t))
	return cmd
}

// types types commands, which must succeed, and returns what they print.
func (o *operator) types(commands string) string {
	o.t.Helper()
	cmd := o.shell(commands)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		o.t.Fatalf("%s\n%v\n%s%s", commands, err, out, &stderr)
	}
	return string(out)
}

// A container serves in the foreground of a shell.
type container struct {
	o        *operator
	commands string
	name     string
	port     int
	cmd      *exec.Cmd
	out      servertest.Buffer
}

// serves types commands whose last one is podman run with a server at a port of this machine, and waits until the
// server is ready.
func (c *container) serves() {
	t := c.o.t
	t.Helper()
	c.cmd = c.o.shell(c.commands)
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.out
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	for !isReady(c.address()) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: the container is not ready\n%s", c.commands, c.out.String())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (c *container) address() string { return fmt.Sprintf("http://127.0.0.1:%d", c.port) }

// stop ends the container as its operator does.
func (c *container) stop() {
	c.o.shell("podman stop " + c.name).Run()
	c.cmd.Wait()
}

// published is how the page publishes the port of a container.
var published = regexp.MustCompile(`-p 127\.0\.0\.1:8000:`)

// newContainer returns a container of the page's commands with another port and a name.
func (o *operator) newContainer(commands, name string) *container {
	o.t.Helper()
	c := &container{o: o, name: fmt.Sprintf("mcp-bash-test-%d-%s", os.Getpid(), name), port: freePort(o.t)}
	if !published.MatchString(commands) || strings.Count(commands, "podman run ") != 1 {
		o.t.Fatalf("no container with a published port:\n%s", commands)
	}
	c.commands = published.ReplaceAllString(commands, fmt.Sprintf("-p 127.0.0.1:%d:", c.port))
	c.option("--name", c.name)
	o.t.Cleanup(func() {
		if c.cmd != nil && c.cmd.ProcessState == nil {
			c.stop()
		}
	})
	return c
}

// option adds options of podman run.
func (c *container) option(options ...string) {
	c.commands = strings.Replace(c.commands, "podman run ", "podman run "+strings.Join(options, " ")+" ", 1)
}

// aToken is a token of a caller, as token create prints it.
var aToken = regexp.MustCompile(`mcpbash_[\w-]+`)

// builtPrograms is a folder with the server for each system of an image. That of this system is the one that is tested.
var builtPrograms = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(bin, "programs")
	for _, arch := range []string{"amd64", "arm64"} {
		target := runtimes.Target{OS: "linux", Arch: arch}
		file := filepath.Join(dir, target.Path())
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return "", err
		}
		if target == runtimes.Host {
			if err := os.Link(filepath.Join(bin, "mcp-bash"), file); err != nil {
				return "", err
			}
			continue
		}
		args, env := runtimes.BuildCommand(target, file, "mcp-bash/cmd/mcp-bash", "")
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = checkout.Root(), os.Environ()
		for name, value := range env {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w\n%s", err, out)
		}
	}
	return dir, nil
})

func programs(t *testing.T) string {
	t.Helper()
	dir, err := builtPrograms()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
