package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/policy"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/project/tree"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/serve"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
	"mcp-bash/pkg/wire/revision"
)

func requestCommand() *cli.Command {
	c, timeout := &call{}, 0
	d := &cli.Command{
		Name:    "request",
		Summary: "Make one request to a project's server, and print the result.",
		Examples: []cli.Example{
			{Line: "NAME tools/list"},
			{Line: "NAME resources/list | jq -r '.resources[].uri'"},
			{Line: `NAME resources/read '{"uri":"file:///srv/demo/resources/a.txt"}'`},
			{Line: `NAME prompts/get '{"name":"greet","arguments":{"name":"Ada"}}'`},
			{Line: "NAME completion/complete @query.json"},
			{Line: `jq -n '{name: "hello", arguments: {name: "Ada"}}' |` +
				"\nNAME tools/call - --allow-self"},
			{Line: `NAME tools/call '{"name":"slow"}' --allow-self --notifications`},
			{Line: "NAME tools/list --http https://mcp.example.com/mcp --token-env TEAM_TOKEN",
				Purpose: "ask a remote server"},
		},
		Operands: []cli.Operand{{Name: "METHOD", Complete: cli.Words(methods...)},
			{Name: "[PARAMS]", Complete: cli.Files}},
		Text: `PARAMS is a JSON object, @FILE for a file, or - for standard input. The server runs in this process, with
this environment. So it rejects tools that MCPBASH_TOOL_ALLOWLIST does not name, unless you allow them here. The command
sends initialize itself.

With --http it asks a remote server. A token comes only from a variable, needs https (or this machine), and does not
follow redirects.

It prints the result as JSON: on one line, or indented on a terminal. It prints the code, message and data of an error
on standard error.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "a result"}, {Code: 1, Meaning: "an error"},
			{Code: 128, Meaning: "and above: ended by a signal"},
		},
		Run: func(s cli.Streams, operands []string) error {
			c.timeout = settings.Seconds(timeout)
			if err := c.complete(s, operands); err != nil {
				return err
			}
			return c.make(s)
		},
	}
	d.Flags.Bool(&c.notifications, "notifications", `also print the server's notifications, each on a line before the result;
		requests progress`)
	d.Flags.Positive(&timeout, "timeout", "SECS", "cancel the request after this time")
	c.allow.AddTo(&d.Flags, cli.Found(toolNames))
	d.Flags.String(&c.http, "http", "URL", "ask the server at URL, not the project's")
	d.Flags.String(&c.tokenEnv, "token-env", "NAME", "with --http, the variable that has the bearer token")
	d.Flags.ProjectRoot(&c.root)
	c.given = d.Flags.Given
	d.Flags.Bool(new(bool), "json", "print an error as JSON on standard output, too")
	return d
}

func toolNames() []string { return registry.CachedNames(kinds.Tools) }

// methods are the methods for completion and suggestions.
var methods = []string{
	"initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/read", "resources/templates/list",
	"prompts/list", "prompts/get", "completion/complete", "logging/setLevel",
}

type call struct {
	method        string
	params        json.RawMessage // nil for none
	notifications bool
	timeout       time.Duration // 0: none
	given         func(option string) bool
	root          string
	allow         policy.Allow
	http          string // "": the project's server
	tokenEnv      string // the variable with the token
}

// An endpoint is the connection to a server.
type endpoint interface {
	send(line []byte)
	receive() ([]byte, error)
	abandon(cancelled []byte) // sends the cancellation, if any, and makes a waiting receive return
	end() int
}

const progressToken = `"request"`

func (c *call) make(s cli.Streams) error {
	env := project.OSEnv()
	if c.http != "" {
		server, err := dial(c.http, env[c.tokenEnv])
		if err != nil {
			return err
		}
		return c.ask(server, s)
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	root, err := project.FindRoot(env, c.root, dir)
	if err != nil {
		return err
	}
	env["MCPBASH_PROJECT_ROOT"] = root
	delete(env, "MCPBASH_REMOTE_TOKEN") // clients that start the server need no token
	env["MCPBASH_TOOL_POLICY_CONTEXT"] = policy.Request
	if list := c.allow.List(rawjson.TextOf(c.params, "name")); list != nil {
		env["MCPBASH_TOOL_ALLOWLIST"] = strings.Join(list, " ")
	}
	return c.ask(connect(env, dir, s.Err), s)
}

// ask makes the request and prints its result.
func (c *call) ask(server endpoint, s cli.Streams) error {
	result, err := c.converse(server, s)
	if code := server.end(); code != cli.ExitOK {
		return cli.ExitCode(code)
	}
	if err != nil {
		return err
	}
	return printJSON(s, result)
}

func (c *call) complete(s cli.Streams, operands []string) error {
	c.method = operands[0]
	switch {
	case c.method == "":
		return cli.Usagef("a method is missing, such as tools/list")
	case strings.HasPrefix(c.method, "notifications/"):
		return cli.Usagef("%s is not a request", c.method)
	}
	if err := c.checkOptions(); err != nil {
		return err
	}
	if len(operands) == 2 {
		params, err := cli.PayloadReader{Stdin: s.In, Timeout: c.timeout}.Object("PARAMS", operands[1])
		if err != nil {
			return err
		}
		c.params = rawjson.Normal(params)
	}
	if c.notifications {
		c.params = withProgressToken(c.params)
	}
	return nil
}

// checkOptions checks combinations of options.
func (c *call) checkOptions() error {
	allows := c.given("allow-self") || c.given("allow") || c.given("allow-all")
	switch {
	case c.given("allow-self") && c.method != "tools/call":
		return cli.Usagef("--allow-self takes tools/call")
	case c.given("http") && (allows || c.given("project-root")):
		return cli.Usagef("--http asks another server, which has its own project and tools")
	case c.given("token-env") && !c.given("http"):
		return cli.Usagef("--token-env takes --http")
	case c.given("token-env") && os.Getenv(c.tokenEnv) == "":
		return cli.Failf(cli.CodeInvalid, "--token-env: the variable %q is not set", c.tokenEnv)
	}
	return c.allow.Check()
}

// withProgressToken adds a progress token, unless the parameters have one.
func withProgressToken(params json.RawMessage) json.RawMessage {
	if rawjson.Path(params, "_meta", "progressToken") != nil {
		return params
	}
	meta := rawjson.With(rawjson.Get(params, "_meta"), "progressToken", json.RawMessage(progressToken))
	return rawjson.With(params, "_meta", meta)
}

// errNoAnswer means that the server ended early. The project's server has printed the reason.
var errNoAnswer = errors.New("the server ended without an answer")

// converse does the handshake, sends the request and returns its result. The error is a [*cli.Error].
func (c *call) converse(server endpoint, s cli.Streams) (json.RawMessage, error) {
	hello := json.RawMessage(fmt.Sprintf(
		`{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"mcp-bash request","version":%q}}`,
		revision.Latest.Name, cli.Version))
	if c.method == "initialize" && c.params != nil {
		hello = c.params
	}
	stop := func() bool { return true }
	if c.timeout > 0 && c.http != "" {
		stop = time.AfterFunc(c.timeout, func() { server.abandon(nil) }).Stop
	}
	server.send(jsonrpc.AppendRequest(nil, 1, "initialize", hello))
	answer, err := c.await(server, s, "1")
	if !stop() {
		return nil, cli.Failf(cli.CodeTimeout, "initialize timed out after %v", c.timeout)
	}
	if err != nil || c.method == "initialize" {
		return answer, err
	}
	server.send(jsonrpc.AppendNotification(nil, "notifications/initialized", nil))
	if c.timeout > 0 {
		timer := time.AfterFunc(c.timeout, func() {
			reason := json.RawMessage(`{"requestId":2,"reason":"timed out"}`)
			server.abandon(jsonrpc.AppendNotification(nil, "notifications/cancelled", reason))
		})
		defer timer.Stop()
	}
	server.send(jsonrpc.AppendRequest(nil, 2, c.method, c.params))
	answer, err = c.await(server, s, "2")
	if err == errNoAnswer && c.timeout > 0 {
		err = cli.Failf(cli.CodeTimeout, "%s timed out after %v", c.method, c.timeout)
	}
	return answer, err
}

// await reads messages up to the response to a request, and returns its result.
func (c *call) await(server endpoint, s cli.Streams, id string) (json.RawMessage, error) {
	for {
		line, err := server.receive()
		if failed, ok := errors.AsType[*cli.Error](err); ok {
			return nil, failed
		} else if err != nil {
			return nil, errNoAnswer
		}
		m, err := jsonrpc.Parse(line)
		switch {
		case err != nil:
			return nil, err
		case m.Shape == jsonrpc.Notification && c.notifications:
			if _, err := s.Out.Write(line); err != nil {
				return nil, err
			}
		case m.Shape == jsonrpc.Response && string(m.ID) == id && m.Error != nil:
			return nil, refused(c.method, m.Error)
		case m.Shape == jsonrpc.Response && string(m.ID) == id:
			return m.Result, nil
		}
	}
}

// refused returns the error of a command for an error response to a method.
func refused(method string, answer json.RawMessage) *cli.Error {
	code := string(rawjson.Get(answer, "code"))
	text := fmt.Sprintf("error %s: %s", code, cli.Line(rawjson.TextOf(answer, "message")))
	if data := rawjson.Get(answer, "data"); data != nil {
		text += " " + string(rawjson.Normal(data))
	}
	word := cli.CodeInternal
	switch code {
	case strconv.Itoa(mcp.CodeInvalidParams), strconv.Itoa(mcp.CodeInvalidRequest):
		word = cli.CodeInvalid
	case strconv.Itoa(mcp.CodeMethodNotFound), strconv.Itoa(mcp.CodeNotFound):
		word = cli.CodeNotFound
	}
	err := cli.Failf(word, "%s", text)
	err.Data = rawjson.Normal(answer)
	if meant := cli.Nearest(method, methods); code == strconv.Itoa(mcp.CodeMethodNotFound) && meant != "" {
		err = err.WithHint("try mcp-bash request %s", meant)
	}
	return err
}

// printJSON prints a value on one line, or indented on a terminal.
func printJSON(s cli.Streams, v json.RawMessage) error {
	text := rawjson.Normal(v)
	if cli.IsTerminal(s.Out) {
		text = rawjson.AppendIndent(nil, v, 0)
	}
	_, err := fmt.Fprintf(s.Out, "%s\n", text)
	return err
}

// A connection is a client's connection to a server in this process.
type connection struct {
	to   *io.PipeWriter
	in   *bufio.Reader
	gone chan struct{} // closed when nobody reads the server's output
	code chan int
}

func connect(env project.Env, dir string, stderr io.Writer) *connection {
	fromUs, toServer := io.Pipe()
	toUs, fromServer := io.Pipe()
	c := &connection{to: toServer, in: bufio.NewReader(toUs), gone: make(chan struct{}), code: make(chan int, 1)}
	go func() {
		code := serve.Serve(serve.Options{
			Env: env, Dir: dir, Tree: tree.Embedded, Stderr: stderr, Streams: &serverEnd{fromUs, fromServer, c.gone},
		})
		fromUs.Close()
		fromServer.Close()
		c.code <- code
	}()
	return c
}

// send sends a line. The server reads the line even if nobody reads the server's output. If the server has ended, the
// line is lost, and receive reports the end.
func (c *connection) send(line []byte) { c.to.Write(line) }

// receive returns the next line, or io.EOF after the server has ended.
func (c *connection) receive() ([]byte, error) { return c.in.ReadBytes('\n') }

// hangUp ends the server's input.
func (c *connection) hangUp() { c.to.Close() }

// abandon sends a cancellation and ends the input. The server waits for the request's script, and sends no response.
func (c *connection) abandon(cancelled []byte) {
	c.send(cancelled)
	c.hangUp()
}

func (c *connection) end() int {
	c.hangUp()
	io.Copy(io.Discard, c.in)
	close(c.gone)
	return <-c.code
}

// A serverEnd is the server's end of a connection. It implements [stdio.Streams].
type serverEnd struct {
	*io.PipeReader
	out  *io.PipeWriter
	gone chan struct{}
}

func (e *serverEnd) Write(p []byte) (int, error) { return e.out.Write(p) }

// Ready returns false, because a pipe in memory accepts nothing before it is read.
func (e *serverEnd) Ready() bool { return false }

// AwaitHangup implements [stdio.Streams]. It returns when nobody reads the server's output.
func (e *serverEnd) AwaitHangup() { <-e.gone }
