package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"mcp-bash/pkg/run/code"
)

// started lists the places in the code that may start or source a file that is not a [code.File], or turn a
// path into one. Each has the reason why it runs no file of a project outside of the table of
// package code. All other places need a File, which only that package creates.
var started = map[string]string{
	"pkg/bundle/stage/config.go git: Spec.Argv":                    "git, as PATH finds it, with fixed arguments",
	"pkg/check/doctor/doctor.go ask: Spec.Argv":                    "bash and our own programs, for their version",
	"pkg/check/doctor/install.go installer: Spec.Argv":             "sh, and the install.sh that was checked (CLI-1712)",
	"pkg/check/doctor/install.go byInstaller: assignment to Argv":  "the same, for an upgrade",
	"pkg/engine/engine.go answersVersion: Spec.Argv":               "the JSON tool that the operator names (Named)",
	"pkg/check/health/health.go projectChecks: Spec.Argv":          "our own text, which sources the file of Sources",
	"pkg/project/policy/policy.go runHook: Spec.Argv":              "our own text, which sources the file of Sources",
	"pkg/project/env.go source: Spec.Argv":                         "our own text, which sources the files of Sources",
	"pkg/registry/declare/hook.go run: Spec.Argv":                  "our own text, which sources the file of Sources",
	"pkg/bundle/runtimes/find.go build: Spec.Argv":                 "go, as PATH finds it, on our own sources",
	"pkg/registry/requirements/requirements.go examine: Spec.Argv": "a program on PATH, for its version (CLI-1109)",
	"pkg/serve/announce.go snapshot: Spec.Argv":                    "bash, with fixed text",
	"pkg/scaffold/ask/ask.go run: Spec.Argv":                       "a program that the operator has wrapped",
	"pkg/check/validate/scripts.go shellcheck: Spec.Argv":          "shellcheck, which reads scripts and runs none",
	"pkg/check/validate/scripts.go parse: Spec.Argv":               "bash -n, which reads a script and does not run it",
	"pkg/check/validate/scripts.go parse: assignment to Argv":      "the same",

	"pkg/feature/completion/script.go check: Spec.Argv":         "script.Command of its Script",
	"pkg/feature/tool/record.go startTrace: assignment to Argv": "bash -x and its Script",
	"pkg/feature/tool/call.go run: Spec.Argv":                   "script.Command of its Script",

	"pkg/registry/declare/hook.go copy: code.PrivateCopy":    "register.sh, which was checked (R-152)",
	"pkg/runtool/run.go sourceFiles: code.OperatorFile":      "--source",
	"pkg/serve/start.go sourceProfile: code.OperatorFile":    "MCPBASH_LOGIN_PROFILE",
	"pkg/run/script/system_unix.go Replace: syscall.Exec":    "a program of ours that lies next to this one",
	"pkg/run/script/system_windows.go Replace: exec.Command": "a program of ours that lies next to this one",
	"pkg/run/script/command.go Pipe: exec.CommandContext":    "a program of ours, next to this one or on PATH",
	"pkg/run/script/confined_linux.go forkExec: fork.Exec":   "the one place that starts scripts",

	"pkg/run/script/internal/fork/fork_linux.go askFirstLimit: syscall.ForkExec": "a shell, with fixed text",
	"pkg/run/script/internal/fork/fork_linux_other.go Exec: syscall.ForkExec":    "the one place that starts scripts",

	"pkg/run/script/system_other.go forkExec: syscall.ForkExec": "the one place that starts scripts",
	"pkg/run/script/runner_windows.go Run: exec.Command":        "the one place that starts scripts",
}

// starters are the functions that start a process, or that make a File of any path.
var starters = map[string][]string{
	"os":                                    {"StartProcess"},
	"os/exec":                               {"Command", "CommandContext"},
	"syscall":                               {"Exec", "ForkExec", "StartProcess"},
	"golang.org/x/sys/unix":                 {"Exec"},
	module + "pkg/run/script/internal/fork": {"Exec"},
	module + "pkg/run/code":                 {"OperatorFile", "PrivateCopy"},
	"golang.org/x/sys/windows":              {"CreateProcess", "CreateProcessAsUser"},
}

// Our commands start and source only files of the table in package code (CF-14). The type code.File
// enforces that. This test finds the places that do not use it.
func TestOnlyListedFilesAreStarted(t *testing.T) {
	found := map[string]bool{}
	eachSource(t, func(file string, parsed *ast.File) {
		w := &startWalk{file: file, names: importNames(parsed), found: found}
		for _, decl := range parsed.Decls {
			w.function = "package"
			if f, ok := decl.(*ast.FuncDecl); ok {
				w.function = f.Name.Name
			}
			ast.Inspect(decl, w.look)
		}
	})
	for place := range found {
		if started[place] == "" {
			t.Errorf("%s starts or sources something, or makes a code.File of any path. Use a kind of the table in "+
				"pkg/run/code, with a new row where there is none; or say in this test why no file of a project is started", place)
		}
	}
	for place := range started {
		if !found[place] {
			t.Errorf("%s does nothing of the sort any more; take it off the list", place)
		}
	}
}

// A startWalk looks for what starts or sources something in one file.
type startWalk struct {
	file, function string
	names          map[string]string // imported packages by the names they have here
	found          map[string]bool
}

func (w *startWalk) look(n ast.Node) bool {
	note := func(what string) { w.found[fmt.Sprintf("%s %s: %s", w.file, w.function, what)] = true }
	switch n := n.(type) {
	case *ast.CompositeLit:
		if !w.isSpec(n.Type) {
			break
		}
		for _, e := range n.Elts {
			if pair, ok := e.(*ast.KeyValueExpr); !ok {
				note("Spec without names")
			} else if name, ok := pair.Key.(*ast.Ident); ok && name.Name == "Argv" {
				note("Spec.Argv")
			}
		}
	case *ast.AssignStmt:
		for _, left := range n.Lhs {
			if isArgv(left) && w.names["script"] != "" {
				note("assignment to Argv")
			}
		}
	case *ast.SelectorExpr:
		if x, ok := n.X.(*ast.Ident); ok && slices.Contains(starters[w.names[x.Name]], n.Sel.Name) {
			note(x.Name + "." + n.Sel.Name)
		}
	}
	return true
}

// isSpec reports whether an expression names the type script.Spec.
func (w *startWalk) isSpec(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		x, ok := e.X.(*ast.Ident)
		return ok && w.names[x.Name] == module+"pkg/run/script" && e.Sel.Name == "Spec"
	case *ast.Ident:
		return e.Name == "Spec" && path.Dir(w.file) == "pkg/run/script"
	}
	return false
}

// isArgv reports whether an expression is a field Argv, or an element of it.
func isArgv(e ast.Expr) bool {
	if at, ok := e.(*ast.IndexExpr); ok {
		e = at.X
	}
	field, ok := e.(*ast.SelectorExpr)
	return ok && field.Sel.Name == "Argv"
}

// importNames returns the packages that a file imports, by the names that it knows them under.
func importNames(parsed *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range parsed.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = imported
	}
	return names
}

// eachSource parses the Go files that our commands are built of.
func eachSource(t *testing.T, use func(file string, parsed *ast.File)) {
	t.Helper()
	root := filepath.Join("..", "..")
	for _, top := range []string{"cmd", "pkg", "lib", "sdk", "providers", "schemas"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(file string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return fs.SkipDir
			case d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
				return nil
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, file)
			use(filepath.ToSlash(rel), parsed)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// shellSources lists the commands in our shell code that read other code or start a variable's value. Its keys are
// the rows of the table. It leaves out the SDK, which runs in the scripts of a
// project and is a row itself.
var shellSources = map[string][]string{
	"HealthChecks": {
		`pkg/check/health/checks.sh: source "$1"`,
	},
	"Policy": {
		`pkg/project/policy/hook.sh: source "$__mcp_policy_file"`,
	},
	"Policy, read and not run": {
		`pkg/project/policy/hook.sh: "$BASH" -n "$__mcp_policy_file"`,
	},
	"Named": {
		`pkg/project/policy/hook.sh: "$MCPBASH_JSON_TOOL_BIN" "${2:--r}" "${3:-.}"`,
		`pkg/project/policy/hook.sh: "$MCPBASH_JSON_TOOL_BIN" "${2:--r}" "${3:-.}" "${1-}"`,
	},
	"SDK": {
		`pkg/project/policy/hook.sh: ` +
			`"$MCPBASH_HELPER_BIN" --helper tool-path "$MCPBASH_PROJECT_ROOT" "$MCPBASH_TOOLS_DIR" "${1-}"`,
		`pkg/project/policy/hook.sh: ` +
			`"$MCPBASH_HELPER_BIN" --helper tool-policy "$@" "$MCPBASH_PROJECT_ROOT" "$MCPBASH_TOOLS_DIR"`,
	},
	"Register": {
		`pkg/registry/declare/hook.sh: source "$__mcp_registry_script"`,
	},
	"Vendored": {
		`pkg/bundle/runtimes/launch/mcp-bash.sh: exec "$program" "$@"`,
		`pkg/bundle/runtimes/launch/mcp-jq.sh: exec "$server" "$@"`,
		`pkg/bundle/runtimes/launch/mcp-jq.sh: exec "$server" --helper jq "$@"`,
		`pkg/bundle/plugins/launch/start-server.sh: exec "$here/server/run-server.sh" "$@"`,
		`pkg/bundle/runtimes/launch/run-server.sh: exec "$here/.mcp-bash/bin/mcp-bash" "$@"`,
	},
	"Profiles": {
		`pkg/scaffold/wrapper/profiles.sh: exec "$BASH" --norc --noprofile -c "$_profile_reader" bash "$1"`,
		`pkg/scaffold/wrapper/profiles.sh: eval "$exports"`,
	},
	"Program, SDK": {
		`pkg/scaffold/wrapper/wrapper.sh: exec "$program" "$@"`,
	},
}

// notOurs are directories with shell code that becomes a tool's own.
var notOurs = []string{"testdata", "templates", "files"}

// Our own shell code sources and starts nothing else either (CF-14).
func TestOnlyListedFilesAreSourced(t *testing.T) {
	found := map[string]bool{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(filepath.Join(root, "pkg"), func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(notOurs, d.Name()):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(file) != ".sh":
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		parsed, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(text), file)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		syntax.Walk(parsed, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok && readsCode(call) {
				found[filepath.ToSlash(rel)+": "+print(call)] = true
			}
			return true
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, places := range shellSources {
		for _, place := range places {
			if !found[place] {
				t.Errorf("%s is not there any more; take it off the list", place)
			}
			delete(found, place)
		}
	}
	for place := range found {
		t.Errorf("%s: say in this test which row of the table in pkg/run/code it is", place)
	}
}

// readsCode reports whether a command sources a file, evaluates text, or starts a program whose name is not fixed.
func readsCode(call *syntax.CallExpr) bool {
	if len(call.Args) == 0 {
		return false
	}
	switch call.Args[0].Lit() {
	case "exec":
		return len(call.Args) > 1
	case "source", ".", "eval", "":
		return true
	}
	return false
}

func print(n syntax.Node) string {
	var b strings.Builder
	syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, n)
	return b.String()
}

// Each kind has a row (CF-14).
func TestTableOfCode(t *testing.T) {
	for kind, row := range code.Rows {
		if row.What == "" {
			t.Errorf("kind %d has no row", kind)
		}
	}
}
