// Package runtool is the run-tool command: one tool, called as a server would
// call it, with the result on standard output (cli chapter 8).
package runtool

import (
	"encoding/json"
	"io"
	"os"
	"strconv"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/jq"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

// options are those of R-1.
type options struct {
	tool      string
	args      string
	meta      string
	roots     string
	timeout   int // seconds; 0: the tool's own
	root      string
	allow     []string
	sources   []string
	allowSelf bool
	allowAll  bool
	serverEnv bool
	dryRun    bool
	printEnv  bool
	verbose   bool
	noRefresh bool
	minimal   bool
	check     bool
	json      bool
	hasArgs   bool
}

func readOptions(args []string, env project.Env) (*options, error) {
	o := &options{}
	set := cli.NewOptions("run-tool")
	set.StringVar(&o.args, "args", "", "")
	set.StringVar(&o.meta, "meta", "", "")
	set.StringVar(&o.roots, "roots", "", "")
	timeout := set.String("timeout", "", "")
	set.StringVar(&o.root, "project-root", "", "")
	allow, sources := set.Strings("allow"), set.Strings("source")
	set.Missing("allow", "--allow requires a tool name")
	set.Missing("source", "--source requires a file path")
	set.BoolVar(&o.allowSelf, "allow-self", false, "")
	set.BoolVar(&o.allowAll, "allow-all", false, "")
	set.BoolVar(&o.serverEnv, "with-server-env", false, "")
	set.BoolVar(&o.dryRun, "dry-run", false, "")
	set.BoolVar(&o.printEnv, "print-env", false, "")
	set.BoolVar(&o.verbose, "verbose", false, "")
	set.BoolVar(&o.noRefresh, "no-refresh", false, "")
	set.BoolVar(&o.minimal, "minimal", false, "")
	set.BoolVar(&o.check, "check", false, "")
	set.BoolVar(&o.json, "json", false, "")
	operands, err := set.Read(args)
	if err != nil {
		return nil, err
	}
	switch {
	case len(operands) == 0 || operands[0] == "":
		return nil, cli.Usagef("tool name required")
	case len(operands) > 1:
		return nil, cli.Usagef("unexpected argument: %s", operands[1])
	}
	o.tool, o.allow, o.sources = operands[0], *allow, *sources
	for _, name := range o.allow {
		if name == "" {
			return nil, cli.Usagef("--allow requires a tool name")
		}
	}
	for _, file := range o.sources {
		if file == "" {
			return nil, cli.Usagef("--source requires a file path")
		}
	}
	if *timeout != "" {
		n, err := strconv.Atoi(*timeout)
		if err != nil || n <= 0 || strings.Trim(*timeout, "0123456789") != "" {
			return nil, cli.Usagef("--timeout must be a positive integer")
		}
		o.timeout = n
	}
	o.hasArgs = o.args != ""
	switch env["MCPBASH_RUN_TOOL_SOURCE_SERVER_ENV"] {
	case "1", "true":
		o.serverEnv = true
	}
	return o, nil
}

// maxPayload bounds what is read for --args, in bytes.
const maxPayload = 64 << 20

// payload reads the JSON object of an option: written out, in a file after
// "@", or on standard input.
func payload(name, value string, stdin io.Reader) (json.RawMessage, error) {
	wrong := cli.Failf(cli.CodeInvalid, "--%s must be a JSON object", name)
	text := []byte(value)
	var err error
	switch {
	case value == "":
		return json.RawMessage("{}"), nil
	case value == "-" || value == "@-":
		text, err = io.ReadAll(io.LimitReader(stdin, maxPayload))
	case strings.HasPrefix(value, "@"):
		text, err = os.ReadFile(value[1:])
	}
	if err != nil {
		return nil, cli.Failf(cli.CodeNotFound, "--%s: %v", name, err)
	}
	if len(strings.TrimSpace(string(text))) == 0 {
		return json.RawMessage("{}"), nil
	}
	v, err := rawjson.Check(text)
	if err != nil || rawjson.KindOf(v) != rawjson.Object {
		return nil, wrong
	}
	return jq.Normal(v), nil
}
