package runtool

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/scriptenv"
)

func (r *run) showDryRun(ctx context.Context, e *engine.Engine, item json.RawMessage) error {
	timeout := "none"
	if n := tool.EffectiveTimeout(&r.project.Calls, item, r.timeout); n > 0 {
		timeout = strconv.Itoa(n)
	}
	result := e.Tools.DryRun(ctx, &tool.Request{Name: r.tool, Arguments: r.args, Meta: r.meta})
	reason, verdict, arguments := result.Reason(), "allowed", "valid"
	if result.Refusal != nil {
		verdict = "blocked"
	}
	switch {
	case result.Unchecked != nil:
		arguments = "not checked (" + result.Unchecked.Error() + ")"
	case result.Violations != nil:
		arguments = "invalid"
		for _, v := range result.Violations {
			cli.Printf(r.Err, "run-tool: --args: %s\n", v)
		}
		if reason == "" && result.Enforced {
			reason = "the arguments do not fit the tool's inputSchema"
		}
	}
	if r.json {
		var b rawjson.Builder
		b.Object().Name("tool").String(r.tool).Name("argsBytes").Int(len(r.args)).Name("roots").Int(len(r.roots.List)).
			Name("timeout").String(timeout).Name("policy").String(verdict).Name("arguments").String(arguments).
			Name("status").String(status(reason))
		b.Optional("reason", reason)
		fmt.Fprintf(r.Out, "%s\n", b.End().Bytes())
	} else {
		outlook := "Ready to execute (re-run without --dry-run to run)"
		if reason != "" {
			outlook = "Blocked (" + reason + ")"
		}
		cli.Printf(r.Out, "Tool: %s\nArgs: %d bytes\nRoots: %d\nTimeout: %s\nPolicy: %s\nArguments: %s\nStatus: %s\n",
			r.tool, len(r.args), len(r.roots.List), timeout, verdict, arguments, outlook)
	}
	if r.check && reason != "" {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

const scriptEnvHeading = "ENV_POLICY (launch env + server.meta.json only; does not include --with-server-env or " +
	"--source files, or server.d/policy.sh):"

func (r *run) showEnv() error {
	rows := [][2]string{
		{"MCPBASH_PROJECT_ROOT", r.project.Root}, {"MCPBASH_HOME", r.home.Dir}, {"MCP_SDK", r.home.Dir + "/sdk"},
		{"MCPBASH_MODE", "full"},
	}
	there := func(file code.File) string {
		if _, err := os.Stat(file.Path()); err != nil {
			return "(not found: " + file.Path() + ")"
		}
		return file.Path()
	}
	server, files := r.sourceFiles()
	if server != (code.File{}) {
		rows = append(rows, [2]string{"WILL_SOURCE_SERVER_ENV", there(server)})
	}
	for i, file := range files {
		rows = append(rows, [2]string{fmt.Sprintf("WILL_SOURCE[%d]", i), there(file)})
	}
	for i, root := range r.roots.List {
		rows = append(rows, [2]string{fmt.Sprintf("ROOT[%d]", i), root.Path})
	}
	report := scriptenv.Report{Policy: &r.project.Scripts, Env: r.project.Env, Placeholders: project.Placeholders()}
	if r.json {
		var b rawjson.Builder
		b.Object()
		for _, row := range rows {
			b.Name(row[0]).String(row[1])
		}
		b.Name("ENV_POLICY").Append(report.AppendJSON)
		fmt.Fprintf(r.Out, "%s\n", b.End().Bytes())
		return nil
	}
	for _, row := range rows {
		cli.Printf(r.Out, "%s=%s\n", row[0], row[1])
	}
	fmt.Fprintln(r.Out, scriptEnvHeading)
	for _, line := range report.Lines() {
		cli.Printf(r.Out, "%s\n", line.Text)
	}
	return nil
}
