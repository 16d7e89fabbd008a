package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"mcp-bash/bench/work"
	"mcp-bash/lib"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/sdk"
)

// scratch is the directory in which everything happens; it goes at the end.
var scratch string

// A fixture is what the benchmark has made to work with: the programs, laid out
// as an installation, and the projects.
type fixture struct {
	bash       string
	typescript []string // the command of the TypeScript server; nil without one
	before     bool     // measure an earlier version too
}

func (*fixture) bin(name string) string { return filepath.Join(scratch, "home", "bin", name) }

// tmp is the TMPDIR of everything we start.
func tmp() string { return filepath.Join(scratch, "tmp") }

// build makes the programs.
func build() (*fixture, error) {
	p := new(fixture)
	var err error
	if p.bash, err = exec.LookPath("bash"); err != nil {
		return nil, err
	}
	product, err := goTool(".", "list", "-m", "-f", "{{.Dir}}", "mcp-bash")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(tmp(), 0o700); err != nil {
		return nil, err
	}
	bin := filepath.Join(scratch, "home", "bin") + "/"
	args, _ := runtimes.BuildCommand(runtimes.Host, bin, "./cmd/...", "") // as they are released
	if _, err := goTool(product, args...); err != nil {
		return nil, err
	}
	if _, err := goTool(".", "build", "-o", bin, "./floor", "./hello", "./others/..."); err != nil {
		return nil, err
	}
	if err := installed(bin); err != nil {
		return nil, err
	}
	// A script needs these files of our installation to run without our server.
	for dir, files := range map[string]fs.FS{"sdk": sdk.Files, "lib": lib.Files} {
		if err := os.CopyFS(filepath.Join(scratch, "home", dir), files); err != nil {
			return nil, err
		}
	}
	return p, os.Symlink("mcp-bash", p.bin("mcp-jq"))
}

// installed replaces each program by a copy of itself, as after an installation. The linker writes through a
// mapping and leaves single pages in the page cache. Such a program starts a fifth slower
// until it is read from the disk again.
func installed(dir string) error {
	programs, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, p := range programs {
		file := filepath.Join(dir, p.Name())
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := errors.Join(os.Remove(file), os.WriteFile(file, content, 0o755)); err != nil {
			return err
		}
	}
	return nil
}

// buildBefore makes the programs of another version from its source, with what its
// scripts need laid out around them.
func (p *fixture) buildBefore(source string) error {
	if _, err := goTool(source, "build", "-o", filepath.Join(scratch, before, "bin")+"/", "./cmd/mcp-bash",
		"./cmd/mcp-registry"); err != nil {
		return err
	}
	if err := installed(filepath.Join(scratch, before, "bin")); err != nil {
		return err
	}
	for _, dir := range []string{"sdk", "lib"} {
		if err := os.CopyFS(filepath.Join(scratch, before, dir), os.DirFS(filepath.Join(source, dir))); err != nil {
			return err
		}
	}
	p.before = true
	return nil
}

// productDir is where the product's own module is.
func productDir() (string, error) { return goTool(".", "list", "-m", "-f", "{{.Dir}}", "mcp-bash") }

func goTool(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as make build does, for all alike
	var noise bytes.Buffer
	cmd.Stderr = &noise
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, noise.Bytes())
	}
	return strings.TrimSpace(string(out)), err
}

// environment returns the environment of all programs, without variables of the benchmark.
func environment(more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + scratch, "TMPDIR=" + tmp(),
		"XDG_CACHE_HOME=" + filepath.Join(scratch, "cache"), "LANG=C.UTF-8",
	}, more...)
}

// arguments is the JSON of every call.
const arguments = `{"count":3,"name":"World"}`

// help returns the variables that our server adds for its SDK: a table of the arguments, and the path of a JSON
// program. The floor and the other servers get them too, because the SDK is slower without them.
func (p *fixture) help() []string {
	return []string{
		"MCPBASH_ARGS_FLAT=.\to" + arguments + "\n.count\ti3\n.name\tsWorld\n",
		"MCPBASH_MODE=full", "MCPBASH_JSON_TOOL=jq", "MCPBASH_JSON_TOOL_BIN=" + p.bin("mcp-jq"),
	}
}

func (p *fixture) sdk() string { return "MCP_SDK=" + filepath.Join(scratch, "home", "sdk") }
func project(n string) string  { return filepath.Join(scratch, "project-"+n) }

// The scripts. The last lines of greet are what tools mostly are: some
// arguments in, an object out.
var scripts = map[string]string{
	"empty": "",
	"greet": `source "${MCP_SDK}/tool-sdk.sh"
name=$(mcp_args_get .name)
count=$(mcp_args_int .count --min 1)
mcp_emit_json "$(mcp_json_obj name "$name" count "$count")"
`,
	"text-1": "cat \"${0%/*}/text\"\n",
	"text-9": "cat \"${0%/*}/text\"\n",
}

const shebang = "#!/usr/bin/env bash\n"

// extra are scripts that no server offers.
var extra = map[string]string{
	"forks":  "x=$(:)\nx=$(:)\nx=$(:)\n",
	"source": "source \"${MCP_SDK}/tool-sdk.sh\"\n",
	"into": `source "${MCP_SDK}/tool-sdk.sh"
mcp_into name mcp_args_get .name
mcp_into count mcp_args_int .count --min 1
mcp_into object mcp_json_obj name "$name" count "$count"
mcp_emit_json "$object"
`,
}

func script(name string) string { return filepath.Join(project("10"), "tools", name, "tool.sh") }

// makeProject makes the project of n tools; ten of them include the scripts.
func makeProject(n int) (root string, err error) {
	withScripts := n == 10
	root = project(fmt.Sprint(n))
	if _, err := os.Stat(root); err == nil {
		return root, nil
	}
	w := &writer{}
	w.file(filepath.Join(root, "server.d", "server.meta.json"), `{"name":"bench","version":"1.0.0"}`+"\n", 0o644)
	for _, name := range work.Names(withScripts, n) {
		w.tool(filepath.Join(root, "tools", name), name, scripts[name])
	}
	if withScripts {
		w.file(filepath.Join(root, "tools", "text-1", "text"), prose(1_000_000), 0o644)
		w.file(filepath.Join(root, "tools", "text-9", "text"), prose(9_000_000), 0o644)
		for name, text := range extra {
			w.file(filepath.Join(root, "more", name+".sh"), shebang+text, 0o755)
		}
	}
	return root, w.err
}

// A writer writes files until one fails.
type writer struct{ err error }

func (w *writer) file(path, text string, mode fs.FileMode) {
	if w.err == nil {
		w.err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if w.err == nil {
		w.err = os.WriteFile(path, []byte(text), mode)
	}
}

// tool writes a tool that runs a script.
func (w *writer) tool(dir, name, script string) {
	w.file(filepath.Join(dir, "tool.sh"), shebang+script, 0o755)
	w.file(filepath.Join(dir, "tool.meta.json"),
		fmt.Sprintf("{\n  \"name\": %q,\n  \"description\": %q,\n  \"inputSchema\": %s\n}\n",
			name, work.Description(name), work.Schema), 0o644)
}

// prose is text of n bytes that needs an escape only at the ends of its lines.
func prose(n int) string {
	line := strings.Repeat("Nothing in this line has to be escaped. ", 20) + "\n"
	return strings.Repeat(line, n/len(line)+1)[:n]
}

// serving is our server with the project in a directory.
func (p *fixture) serving(root string) program {
	return program{ours, []string{p.bin("mcp-bash")}, environment("MCPBASH_PROJECT_ROOT="+root,
		"MCPBASH_TOOL_ALLOWLIST=*")}
}

// versions are our server with the project in a directory, and the version before it
// where there is one.
func (p *fixture) versions(root string) []program {
	us := p.serving(root)
	if !p.before {
		return []program{us}
	}
	return []program{us, {before, []string{filepath.Join(scratch, before, "bin", "mcp-bash")}, us.env}}
}

// otherServers returns the other servers, each with n tools.
func (p *fixture) otherServers(n int, env ...string) []program {
	options := []string{"-tools", fmt.Sprint(n)}
	if n == 10 {
		options = append(options, "-scripts", filepath.Join(project("10"), "tools"))
	}
	return p.others(options, environment(append(env, p.sdk())...))
}

// others are the other servers, started with some options.
func (p *fixture) others(options, env []string) []program {
	list := []program{
		{"go-sdk", append([]string{p.bin("gosdk")}, options...), env},
		{"mcp-go", append([]string{p.bin("mcpgo")}, options...), env},
	}
	if p.typescript != nil {
		list = append(list, program{"ts-sdk", p.typescriptCommand(options), env})
	}
	return list
}

// all returns our server and the others.
func (p *fixture) all(n int) []program {
	return append(p.versions(project(fmt.Sprint(n))), p.otherServers(n, p.help()...)...)
}

// wire is the floor of everything that is only talk.
func (p *fixture) wire() program {
	return program{floor, []string{p.bin("floor"), "wire"}, environment()}
}
