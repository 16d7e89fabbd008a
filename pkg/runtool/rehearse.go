package runtool

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"mcp-bash/pkg/kit"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/schema"
	"mcp-bash/pkg/tool"
)

// rehearse says what a run would do.
func (r *run) rehearse(ctx context.Context, k *kit.Kit, item json.RawMessage) error {
	timeout := "none"
	if n := tool.EffectiveTimeout(&r.project.Calls, item, r.timeout); n > 0 {
		timeout = strconv.Itoa(n)
	}
	verdict := "allowed"
	err := k.Level.Refusal(item)
	if err == nil {
		err = k.Policy.Check(ctx, r.tool, item)
	}
	if err != nil {
		verdict = "blocked"
		fmt.Fprintln(r.Err, "run-tool:", err.Message)
	}
	arguments := "valid"
	if s, err := schema.Compile(rawjson.Get(item, "inputSchema")); err != nil {
		arguments = "not checked (" + err.Error() + ")"
	} else if violations := s.Check(r.args); violations != nil {
		arguments = "invalid"
		for _, v := range violations {
			fmt.Fprintln(r.Err, "run-tool: --args:", v)
		}
	}
	if r.json {
		var b rawjson.Builder
		b.Object().Name("tool").String(r.tool).Name("argsBytes").Int(len(r.args)).Name("roots").Int(len(r.roots)).
			Name("timeout").String(timeout).Name("policy").String(verdict).Name("arguments").String(arguments).End()
		fmt.Fprintf(r.Out, "%s\n", b.Bytes())
		return nil
	}
	fmt.Fprintf(r.Out, "Tool: %s\nArgs: %d bytes\nRoots: %d\nTimeout: %s\nPolicy: %s\nArguments: %s\nStatus: Ready to execute (re-run without --dry-run to run)\n",
		r.tool, len(r.args), len(r.roots), timeout, verdict, arguments)
	return nil
}

// showEnv says what a run would work with.
func (r *run) showEnv() error {
	rows := [][2]string{
		{"MCPBASH_PROJECT_ROOT", r.project.Root}, {"MCPBASH_HOME", r.home.Dir}, {"MCP_SDK", r.home.Dir + "/sdk"}, {"MCPBASH_MODE", "full"},
	}
	there := func(file string) string {
		if _, err := os.Stat(file); err != nil {
			return "(not found: " + file + ")"
		}
		return file
	}
	server, files := r.sourceFiles()
	if server != "" {
		rows = append(rows, [2]string{"WILL_SOURCE_SERVER_ENV", there(server)})
	}
	for i, file := range files {
		rows = append(rows, [2]string{fmt.Sprintf("WILL_SOURCE[%d]", i), there(file)})
	}
	for i, root := range r.roots {
		rows = append(rows, [2]string{fmt.Sprintf("ROOT[%d]", i), root.Path})
	}
	if len(r.roots) == 0 {
		rows = append(rows, [2]string{"ROOTS", "none"})
	}
	if r.json {
		var b rawjson.Builder
		b.Object()
		for _, row := range rows {
			b.Name(row[0]).String(row[1])
		}
		fmt.Fprintf(r.Out, "%s\n", b.End().Bytes())
		return nil
	}
	for _, row := range rows {
		fmt.Fprintf(r.Out, "%s=%s\n", row[0], row[1])
	}
	return nil
}
