// Package runtool implements the run-tool command. It calls one tool like a server, and prints the
// result on standard output.
//
// [Command] describes the command. It makes a request from the operands, runs it with the same engine as the server,
// and prints the result that a client would get. With --explain it prints the denied accesses of the tool, and with
// --learn the declaration that the run needed.
package runtool

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/policy"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/kinds"
)

type options struct {
	tool                            string // "" lists all
	args, meta, elicit, roots, root string
	timeout                         int // seconds; 0 for the tool's own timeout
	allow                           policy.Allow
	sources                         []string
	words                           []word   // arguments on the command line
	more                            []string // further tools for trial
	saveTest                        string   // name of the file that gets a case for the call

	serverEnv, noRefresh, minimal bool
	dryRun, printEnv, trial       bool // instead of the call; trial makes one that changes nothing
	check, explain, learn, write  bool
	verbose, json, text, full     bool // text: the text of the result only; full: all of it, however large

	given func(option string) bool
}

// Command returns the command. tree returns the embedded installation tree.
func Command(tree func() project.Tree) *cli.Command {
	o := &options{}
	c := &cli.Command{
		Name:    "run-tool",
		Summary: "Run one tool of a project, as the server would, and show its result.",
		Examples: []cli.Example{
			{Line: "NAME", Purpose: "list the tools"},
			{Line: "NAME hello --allow-self"},
			{Line: "NAME hello --allow-self name=Ada"},
			{Line: "NAME hello --allow-self name=Ada --text", Purpose: "print the text alone"},
			{Line: `NAME hello --allow-self --args '{"name":"Ada"}' | jq .structuredContent`},
			{Line: "NAME hello --allow-self - <arguments.json"},
			{Line: `NAME order --allow-self --elicit '{"size":"small","confirmed":true}'`},
			{Line: "NAME convert --allow-all --args @request.json --verbose"},
			{Line: "NAME hello --allow-self name=Ada --save-test hello", Purpose: "add a test case"},
			{Line: "NAME report --dry-run"},
			{Line: "NAME report --allow-self --trial", Purpose: "see that it works, and change nothing"},
			{Line: "NAME report --allow-self --explain", Purpose: "show denied accesses"},
			{Line: "NAME report --allow-self --learn", Purpose: "suggest its declaration"},
		},
		Operands: []cli.Operand{{Name: "[TOOL]", Complete: cli.Found(toolNames)}, {Name: "[ARGUMENT...]"}},
		Text: `An ARGUMENT is NAME=VALUE, whose type is that of the tool's inputSchema, or NAME:=JSON. A repeated NAME adds
to a list. - reads all arguments as JSON from standard input.

The result is what a client would get: a large one is cut as the project says (--full shows all). On a terminal the result is shown for reading. In a pipe it is the tools/call
result as one line of JSON; a failure that a client would get as an error is
{"_mcpToolError":true,"code":...,"message":...,"data":...}. The tools are a table on a terminal, else
{"tools":[...],"total":N}.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "the tool ended with 0 (also when its result is an error, unless --check)"},
			{Code: 1, Meaning: "anything failed"},
			{Code: 128, Meaning: "and above: ended by a signal"},
		},
		Run: func(s cli.Streams, operands []string) error { return start(s, o, operands, tree) },
	}
	f := &c.Flags
	f.String(&o.args, "args", "JSON", "arguments, a JSON object; @FILE reads a file, - standard input")
	f.String(&o.meta, "meta", "JSON", "the request's _meta, likewise")
	f.String(&o.elicit, "elicit", "JSON", `answers to the tool's questions, likewise: an object by the names of fields or
		the keys of questions, or an array in the order of the questions. On a terminal you are asked what it leaves open`)
	f.String(&o.roots, "roots", "A,B", "directories the tool may work in").Completes(cli.DirList)
	f.Positive(&o.timeout, "timeout", "SECS", "instead of the tool's own timeout")
	o.allow.AddTo(f, cli.Found(toolNames))
	f.Bool(&o.serverEnv, "with-server-env", "evaluate server.d/env.sh first, if it is there")
	f.Strings(&o.sources, "source", "FILE", "evaluate FILE first; may be repeated; relative to the project").
		Completes(cli.Files).Missing("--source requires a file path")
	f.Bool(&o.noRefresh, "no-refresh", "use .registry/tools.json as it is")
	f.Bool(&o.dryRun, "dry-run", "show the settings of the call and whether it would run")
	f.Bool(&o.explain, "explain", "list denied accesses on standard error, with the declaration that permits each (Linux)")
	f.Bool(&o.learn, "learn", `run the tool unconfined, and print the minimum capabilities and "confine" that this call
		needs, instead of its result (Linux)`)
	f.Bool(&o.write, "write", "with --learn, add these to the tool's metadata file")
	f.Bool(&o.trial, "trial", `make the call of "trial" in the tool's metadata, which changes nothing: without writing
		outside a private folder, and without network; TOOL may be repeated`)
	f.Bool(&o.printEnv, "print-env", "show the environment of a run")
	f.Bool(&o.check, "check", "exit 1 when the result is an error, or with --dry-run when the tool would not run")
	f.Bool(&o.verbose, "verbose", `show the tool's standard error, its log and its progress as they come; log and
		progress are shown on a terminal anyway`)
	f.Bool(&o.minimal, "minimal", "behave as in minimal mode, where no tool runs")
	f.ProjectRoot(&o.root)
	f.Bool(&o.text, "text", "print only the text of the result")
	f.Bool(&o.full, "full", "show all of a large result, which a client gets in parts")
	f.String(&o.saveTest, "save-test", "NAME", `add the call and its whole result to tests/NAME.yaml, as a case for
		mcp-bash test`).Missing("--save-test requires a name")
	f.Bool(&o.json, "json", "JSON on a terminal too, and only JSON, errors included")
	o.given = f.Given
	return c
}

func toolNames() []string { return registry.CachedNames(kinds.Tools) }

// complete reads the operand and the environment, and checks combinations of options.
func (o *options) complete(operands []string, env project.Env) error {
	if len(operands) > 0 {
		o.tool = operands[0]
		var stdin bool
		var err error
		if o.trial {
			o.more = operands[1:]
		} else if o.words, stdin, err = readWords(operands[1:]); err != nil {
			return err
		}
		if stdin && o.given("args") {
			return cli.Usagef("- and --args exclude each other")
		} else if stdin {
			o.args = "-"
		}
	}
	if o.tool == "" {
		if len(operands) > 0 || slices.ContainsFunc(aboutOneTool, o.given) {
			return cli.Usagef("tool name required")
		}
	}
	if err := o.allow.Check(); err != nil {
		return err
	}
	switch {
	case o.text && o.json:
		return cli.Usagef("--text and --json exclude each other")
	case slices.Contains(o.sources, ""):
		return cli.Usagef("--source requires a file path")
	case slices.Contains(o.sources, "-"):
		return cli.Usagef("--source: standard input cannot be sourced; a file of that name is ./-")
	case o.trial && (o.args != "" || o.dryRun || o.explain || o.learn || o.given("save-test")):
		return cli.Usagef("--trial has its own arguments, and excludes --dry-run, --explain, --learn and --save-test")
	case o.explain && o.learn:
		return cli.Usagef("--explain and --learn exclude each other")
	case o.given("save-test") && (o.dryRun || o.printEnv || o.learn):
		return cli.Usagef("--save-test excludes --dry-run, --print-env and --learn")
	case o.write && !o.learn:
		return cli.Usagef("--write takes --learn")
	}
	if o.given("save-test") {
		o.full = true // as in mcp-bash test
		if err := checkTestName(o.saveTest); err != nil {
			return err
		}
	}
	switch env["MCPBASH_RUN_TOOL_SOURCE_SERVER_ENV"] {
	case "1", "true":
		o.serverEnv = true
	}
	return nil
}

var aboutOneTool = []string{
	"args", "meta", "elicit", "roots", "timeout", "dry-run", "print-env", "check", "allow-self",
	"explain", "learn", "write", "text", "full", "save-test", "trial",
}

// A word is an argument on the command line, NAME=VALUE or NAME:=JSON.
type word struct {
	name, value string
	isJSON      bool
}

// readWords parses the operands after the tool. stdin reports that one of them is "-".
func readWords(operands []string) (words []word, stdin bool, err error) {
	for _, text := range operands {
		name, value, found := strings.Cut(text, "=")
		switch {
		case text == "-" && !stdin:
			stdin = true
			continue
		case !utf8.ValidString(text):
			return nil, false, cli.Usagef("%q is not valid UTF-8", text)
		case !found || name == "" || name == ":":
			return nil, false, cli.Usagef("unexpected argument: %s", text).
				WithHint("write arguments of the tool as NAME=VALUE or NAME:=JSON")
		}
		w := word{name: name, value: value}
		w.name, w.isJSON = strings.CutSuffix(name, ":")
		words = append(words, w)
	}
	return words, stdin, nil
}

// withWords returns arguments with the words added. The tool's inputSchema decides their types.
func withWords(arguments json.RawMessage, words []word, inputSchema json.RawMessage) (json.RawMessage, error) {
	given := map[string]bool{}
	for _, w := range words {
		property, err := propertyOf(inputSchema, w.name)
		if err != nil {
			return nil, err
		}
		isList := !w.isJSON && slices.Contains(typesOf(property), "array")
		value, err := w.valueFor(property)
		switch {
		case err != nil:
			return nil, err
		case given[w.name] && !isList:
			return nil, cli.Usagef("%s is given twice", w.name)
		case isList: // each word is an element
			var b rawjson.Builder
			b.Array()
			if given[w.name] {
				for e := range rawjson.Elements(rawjson.Get(arguments, w.name)) {
					b.Raw(e)
				}
			}
			value = b.Raw(value).End().Bytes()
		}
		given[w.name] = true
		arguments = rawjson.With(arguments, w.name, value)
	}
	return arguments, nil
}

// invalidUsage returns an error of wrong usage whose cause is a value.
func invalidUsage(format string, args ...any) *cli.Error {
	e := cli.Failf(cli.CodeInvalid, format, args...)
	e.Exit = cli.ExitUsage
	return e
}

// propertyOf returns the schema of an argument, or nil if the tool takes any.
func propertyOf(inputSchema json.RawMessage, name string) (json.RawMessage, error) {
	properties := rawjson.Get(inputSchema, "properties")
	if property := rawjson.Get(properties, name); property != nil {
		return property, nil
	}
	var names []string
	for other := range rawjson.All(properties) {
		names = append(names, other)
	}
	additional := rawjson.Get(inputSchema, "additionalProperties")
	isOpen := additional != nil && string(additional) != "false" || rawjson.Get(inputSchema, "patternProperties") != nil
	if isOpen || names == nil && additional == nil {
		return nil, nil
	}
	unknown := invalidUsage("the tool has no argument %q%s", name, cli.DidYouMean(name, names))
	if names != nil {
		unknown = unknown.WithHint("its arguments are %s", strings.Join(names, ", "))
	}
	return nil, unknown
}

// typesOf returns the types that a schema names.
func typesOf(schema json.RawMessage) []string {
	if name, ok := rawjson.Text(rawjson.Get(schema, "type")); ok {
		return []string{name}
	}
	list, _ := rawjson.Strings(rawjson.Get(schema, "type"))
	return list
}

// valueFor returns the value of a word for an argument with a schema. For a list, it is one element.
func (w word) valueFor(property json.RawMessage) (json.RawMessage, error) {
	if w.isJSON {
		v, err := rawjson.Check([]byte(w.value))
		if err != nil {
			return nil, invalidUsage("%s: %q is not JSON", w.name, w.value)
		}
		return v, nil
	}
	types := typesOf(property)
	if slices.Contains(types, "array") {
		property = rawjson.Get(property, "items")
		types = typesOf(property)
	}
	if types == nil {
		for choice := range rawjson.Elements(rawjson.Get(property, "enum")) {
			if string(choice) == w.value {
				return choice, nil
			}
		}
		return rawjson.Quote(w.value), nil
	}
	for _, name := range types {
		if v := asType(w.value, name); v != nil {
			return v, nil
		}
	}
	if slices.Contains(types, "object") || slices.Contains(types, "array") {
		return nil, invalidUsage("%s takes JSON", w.name).WithHint("write %s:=JSON", w.name)
	}
	return nil, invalidUsage("%s: %q is not of type %s", w.name, w.value, strings.Join(types, " or "))
}

// asType returns a text as a value of a type, or nil.
func asType(text, name string) json.RawMessage {
	if name == "string" {
		return rawjson.Quote(text)
	}
	v, err := rawjson.Check([]byte(text))
	if err != nil || string(v) != text {
		return nil
	}
	is := false
	switch rawjson.KindOf(v) {
	case rawjson.Number:
		is = name == "number" || name == "integer" && !strings.ContainsAny(text, ".eE")
	case rawjson.Bool:
		is = name == "boolean"
	case rawjson.Null:
		is = name == "null"
	}
	if !is {
		return nil
	}
	return v
}
