package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
)

// buildTrees builds the commands for each system and lays out its tree. The manual
// pages are those that the commands for this system print.
func (r *release) buildTrees() error {
	manuals, err := r.compile(mainModule, runtimes.Host)
	if err != nil {
		return err
	}
	for _, t := range r.targets {
		programs, err := r.compile(mainModule, t)
		if err != nil {
			return err
		}
		dir := filepath.Join(r.work, t.String(), "mcp-bash")
		if err := os.Mkdir(filepath.Dir(dir), 0o755); err != nil {
			return err
		}
		lay := exec.Command("sh", filepath.Join(r.root, "release", "tree.sh"), programs, dir, manuals)
		if out, err := lay.CombinedOutput(); err != nil {
			return fmt.Errorf("tree.sh: %w: %s", err, out)
		}
		if err := r.address(dir); err != nil {
			return err
		}
		made := tree{Target: t, dir: dir}
		files, err := filepath.Glob(filepath.Join(dir, "bin", "mcp-*"))
		if err != nil {
			return err
		}
		for _, file := range files {
			if filepath.Base(file) == "mcp-jq" {
				continue // a script
			}
			if err := check(file, t); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			made.programs = append(made.programs, file)
		}
		r.trees = append(r.trees, made)
	}
	return nil
}

// The modules whose commands a release has, as folders of the checkout.
const (
	mainModule     = "."
	exporterModule = "otel"
)

// compile builds the commands of a module for a system, once, and returns their directory.
func (r *release) compile(module string, t runtimes.Target) (string, error) {
	dir := filepath.Join(r.work, "programs", module, t.String())
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	args, env := runtimes.BuildCommand(t, dir+string(filepath.Separator), "./cmd/...", r.commit)
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = filepath.Join(r.root, module), os.Environ()
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building for %s: %w\n%s", t, err, out)
	}
	return dir, nil
}

// check returns an error for a program of another version or system. It runs a program for this
// system with --version.
func check(file string, t runtimes.Target) error {
	built, err := buildinfo.ReadFile(file)
	if err != nil {
		return err
	}
	made := runtimes.Target{}
	for _, s := range built.Settings {
		switch s.Key {
		case "GOOS":
			made.OS = s.Value
		case "GOARCH":
			made.Arch = s.Value
		}
	}
	if made != t {
		return fmt.Errorf("it is for %s, not %s", made, t)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !bytes.Contains(text, []byte(cli.Stamp())) {
		return fmt.Errorf("it is not of version %s", cli.Version)
	}
	if t != runtimes.Host {
		return nil
	}
	name := strings.TrimSuffix(filepath.Base(file), ".exe")
	if out, err := exec.Command(file, "--version").Output(); err != nil || string(out) != name+" "+cli.Version+"\n" {
		return fmt.Errorf("--version says %q, %v", out, err)
	}
	return nil
}
