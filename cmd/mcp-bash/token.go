package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/auth/tokenfile"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/ascii"
	"mcp-bash/pkg/text/shell"
)

// tokenFileVariable names the token file of serve and of the commands below.
const tokenFileVariable = "MCPBASH_HTTP_TOKEN_FILE"

// tokenCommand edits the file with the bearer tokens of an HTTP server (http section 12).
func tokenCommand() *cli.Command {
	o := &tokenOptions{}
	create := &cli.Command{
		Name:    "create",
		Summary: "Create a token for one caller, and print it. Nothing can print it again.",
		Examples: []cli.Example{
			{Line: "NAME ci --file tokens.json", Purpose: "may use everything, never expires"},
			{Line: "NAME ada --expires 90d --tools 'git-*,search'", Purpose: "in $MCPBASH_HTTP_TOKEN_FILE"},
			{Line: "NAME bob --tools search --resources 'docs-*' --prompts '*' --file tokens.json"},
			{Line: "NAME ci --file tokens.json --json | jq -r .token"},
		},
		Operands: []cli.Operand{{Name: "CALLER", Missing: "the name of the caller is missing"}},
		Text: `The file contains a hash of the token, not the token. It is created with mode 0600 if it does not exist. A
server that uses the file accepts the token within a second.

Without --tools, --resources and --prompts, the token permits everything. With any of them, it permits only what they
name.

The caller sends the token in each request: "Authorization: Bearer TOKEN". Scripts get CALLER as the name of the
client.`,
	}
	create.Run = func(s cli.Streams, operands []string) error {
		if name := create.Flags.Empty(); name != "" { // a variable that is not set must not make a token without an end
			return cli.Usagef("the value of --%s is empty", name)
		}
		return createToken(s, o, operands[0])
	}
	create.Flags.String(&o.expires, "expires", "WHEN", "the end: days, weeks or hours from now (90d, 12w, 8h), a date "+
		"(2027-01-31) or a time (2027-01-31T12:00:00Z)")
	create.Flags.Strings(&o.tools, "tools", "PATTERN,...",
		"the tools that the caller may call; * stands for any characters")
	create.Flags.Strings(&o.resources, "resources", "PATTERN,...",
		"the resources, templates, pages and skills that the caller may read")
	create.Flags.Strings(&o.prompts, "prompts", "PATTERN,...", "the prompts that the caller may get")
	list := &cli.Command{
		Name:     "list",
		Summary:  "List the tokens of a file: names, ends, and what they permit.",
		Examples: []cli.Example{{Line: "NAME --file tokens.json"}, {Line: "NAME --json"}},
		Run:      func(s cli.Streams, _ []string) error { return listTokens(s, o) },
	}
	revoke := &cli.Command{
		Name:     "revoke",
		Summary:  "Remove a token. Servers reject it within a second.",
		Examples: []cli.Example{{Line: "NAME ci --file tokens.json"}},
		Operands: []cli.Operand{
			{Name: "CALLER", Missing: "the name of the caller is missing", Complete: cli.Found(tokenNames)},
		},
		Run: func(s cli.Streams, operands []string) error { return revokeToken(s, o, operands[0]) },
	}
	c := &cli.Command{
		Name:    "token",
		Summary: "Create, list and revoke the bearer tokens of an HTTP server.",
		Examples: []cli.Example{
			{Line: "NAME create ci --file tokens.json --expires 90d"},
			{Line: "NAME list --file tokens.json"},
			{Line: "NAME revoke ci --file tokens.json"},
			{Line: "mcp-bash serve --http :8000 --token-file tokens.json"},
		},
		Commands: []*cli.Command{create, list, revoke},
	}
	for _, sub := range c.Commands {
		sub.Flags.String(&o.file, "file", "FILE",
			"the token file (default: $"+tokenFileVariable+")").Completes(cli.Files)
		sub.Flags.Bool(&o.json, "json", "print JSON")
		sub.Exits = []cli.Exit{{Code: 0, Meaning: "done"}, {Code: 1, Meaning: "failed"}}
	}
	return c
}

type tokenOptions struct {
	file, expires             string
	tools, resources, prompts []string
	json                      bool
}

func (o *tokenOptions) path() (string, error) {
	switch o.file {
	case "":
	case "-": // CLI-118
		return "", noStandardInput("--file")
	default:
		return o.file, nil
	}
	if path := os.Getenv(tokenFileVariable); path != "" {
		return path, nil
	}
	return "", cli.Usagef("a token file is missing: give --file FILE, or set %s", tokenFileVariable)
}

func createToken(s cli.Streams, o *tokenOptions, name string) error {
	path, err := o.path()
	if err != nil {
		return err
	}
	now := time.Now().UTC().Truncate(time.Second)
	token := tokenfile.Token{Name: name, Created: now}
	if o.expires != "" {
		end, ok := parseEnd(o.expires, now)
		if !ok {
			return cli.Usagef("--expires must be a time in the future such as 90d, 12w, 8h, 2027-01-31 or 2027-01-31T12:00:00Z")
		}
		token.Expires = &end
	}
	token.Tools, token.Resources, token.Prompts = patterns(o.tools), patterns(o.resources), patterns(o.prompts)
	ctx, stop := cli.UntilSignal()
	defer stop()
	secret, err := tokenfile.Create(ctx, path, token)
	if err != nil {
		return tokenError(err, "create", name, path)
	}
	shown := secret
	if o.json {
		b := describe(&token)
		shown = string(b.Name("token").String(secret).End().Bytes())
	}
	if _, err := cli.Printf(s.Out, "%s\n", shown); err != nil { // nobody has seen the token
		return errors.Join(err, tokenfile.Revoke(ctx, path, name))
	}
	if !o.json && cli.IsTerminal(s.Out) {
		cli.Printf(s.Err, "Keep the token now; %s contains only its hash.\n", path)
	}
	return nil
}

func parseEnd(text string, now time.Time) (time.Time, bool) {
	if span, ok := cli.Span(text); ok {
		return now.Add(span), span > 0
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if end, err := time.Parse(layout, text); err == nil {
			return end.UTC(), end.After(now)
		}
	}
	return time.Time{}, false
}

func describe(t *tokenfile.Token) *rawjson.Builder {
	var b rawjson.Builder
	b.Object().Name("name").String(t.Name)
	if !t.Created.IsZero() {
		b.Name("created").String(t.Created.Format(time.RFC3339))
	}
	if t.Expires != nil {
		b.Name("expires").String(t.Expires.Format(time.RFC3339)).Name("expired").Bool(t.Expired(time.Now()))
	}
	if rights := t.Rights(); rights != nil {
		b.Name("tools").Strings(rights.Tools).Name("resources").Strings(rights.Resources)
		b.Name("prompts").Strings(rights.Prompts)
	}
	return &b
}

// patterns returns the patterns of an option that may be repeated; nil: it was not given.
func patterns(lists []string) (patterns []string) {
	for _, list := range lists {
		for pattern := range strings.SplitSeq(list, ",") {
			patterns = append(patterns, ascii.Trim(pattern))
		}
	}
	return patterns
}

// permits returns the patterns of rights for a kind of items, for the table of tokens.
func permits(rights *auth.Rights, kind auth.ItemKind) string {
	switch {
	case rights == nil:
		return "all"
	case len(rights.Of(kind)) == 0:
		return "none"
	}
	return strings.Join(rights.Of(kind), ",")
}

func listTokens(s cli.Streams, o *tokenOptions) error {
	path, err := o.path()
	if err != nil {
		return err
	}
	tokens, err := tokenfile.List(path)
	if err != nil {
		return tokenError(err, "list", "", path)
	}
	if o.json {
		var b rawjson.Builder
		b.Object().Name("tokens").Array()
		for i := range tokens {
			b.Raw(describe(&tokens[i]).End().Bytes())
		}
		fmt.Fprintf(s.Out, "%s\n", b.End().End().Bytes())
		return nil
	}
	if len(tokens) == 0 {
		fmt.Fprintln(s.Out, "no tokens")
		return nil
	}
	table := cli.Table{{"NAME", "CREATED", "EXPIRES", "TOOLS", "RESOURCES", "PROMPTS"}}
	for _, t := range tokens {
		created, expires, rights := "unknown", "never", t.Rights()
		if !t.Created.IsZero() {
			created = t.Created.Format(time.DateOnly)
		}
		if t.Expires != nil {
			if expires = t.Expires.Format(time.RFC3339); t.Expired(time.Now()) {
				expires += " (expired)"
			}
		}
		table = append(table, []string{t.Name, created, expires, permits(rights, auth.Tool),
			permits(rights, auth.Resource), permits(rights, auth.Prompt)})
	}
	table.Print(s.Out)
	return nil
}

func revokeToken(s cli.Streams, o *tokenOptions, name string) error {
	path, err := o.path()
	if err != nil {
		return err
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	if err := tokenfile.Revoke(ctx, path, name); err != nil {
		return tokenError(err, "revoke", name, path)
	}
	if o.json {
		var b rawjson.Builder
		fmt.Fprintf(s.Out, "%s\n", b.Object().Name("revoked").String(name).End().Bytes())
		return nil
	}
	cli.Printf(s.Out, "revoked %s\n", name)
	return nil
}

func tokenError(err error, op, name, path string) error {
	if ended, ok := errors.AsType[cli.ExitCode](err); ok { // a signal
		return ended
	}
	e := &cli.Error{Code: cli.CodeInvalid, Op: op, Subject: name, Cause: err}
	switch {
	case errors.Is(err, tokenfile.ErrExists):
		e.Code = cli.CodeExists
		return e.WithHint("revoke it first: mcp-bash token revoke %s --file %s", name, shell.Quote(path))
	case errors.Is(err, tokenfile.ErrUnknown):
		e.Code = cli.CodeNotFound
		return e.WithHint("run mcp-bash token list --file %s", shell.Quote(path))
	case errors.Is(err, fs.ErrNotExist) && op == "create": // the folder does not exist
		e.Code, e.Subject, e.Cause = cli.CodeNotFound, path, fs.ErrNotExist
		return e.WithHint("run mkdir -p %s", shell.Quote(filepath.Dir(path)))
	case errors.Is(err, fs.ErrNotExist):
		e.Code, e.Subject, e.Cause = cli.CodeNotFound, path, fs.ErrNotExist
		return e.WithHint("mcp-bash token create CALLER --file %s creates the file", shell.Quote(path))
	}
	if _, system := errors.AsType[syscall.Errno](err); system || name == "" {
		e.Subject = path
	}
	return e
}

// tokenNames returns the names of the tokens in the file of the environment, for completion.
func tokenNames() (names []string) {
	tokens, _ := tokenfile.List(os.Getenv(tokenFileVariable))
	for _, t := range tokens {
		names = append(names, t.Name)
	}
	return names
}
