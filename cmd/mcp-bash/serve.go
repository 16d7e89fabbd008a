package main

import (
	"context"
	"io"
	"os"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/serve"
	"mcp-bash/pkg/serve/httpd"
)

// serveCommand returns the command serve, which calls run with the options of its arguments.
func serveCommand(run func(cli.Streams, serve.Options) error) *cli.Command {
	overHTTP, options, o := false, httpd.Options{}, serve.Options{}
	var access func(project.Env) (httpd.Access, error)
	var c *cli.Command
	c = &cli.Command{
		Name:    "serve",
		Summary: "Serve the project over standard input and output, or over HTTP.",
		Examples: []cli.Example{
			{Line: "NAME"},
			{Line: "NAME -- --region eu", Purpose: "scripts see the words in MCPBASH_SERVER_ARGS_JSON"},
			{Line: "NAME --http", Purpose: "many clients, at http://" + httpd.DefaultAddr + "/mcp"},
			{Line: "NAME --http unix:/run/mcp.sock", Purpose: "at a socket that only this user can use"},
			{Line: "NAME --http 0.0.0.0:8000 --token-file tokens.json",
				Purpose: "to other machines, with bearer tokens"},
			{Line: "NAME --http 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem \\" +
				"\n--oidc-issuer https://login.example.com --public-url https://mcp.example.com:8443",
				Purpose: "with TLS, and access tokens of an OpenID provider"},
		},
		Usage:    "[--http [ADDR]] [-- ARG...]",
		Operands: []cli.Operand{{Name: "[ADDR]"}},
		Run: func(s cli.Streams, operands []string) error {
			options.Addr = os.Getenv("MCPBASH_HTTP_ADDR")
			switch name := c.Flags.Empty(); {
			case name != "": // of an unset variable of a shell
				return cli.Usagef("the value of --%s is empty", name)
			case overHTTP && len(operands) == 1:
				options.Addr = operands[0]
			case len(operands) > 0:
				return cli.Usagef("unexpected argument: %s (arguments for the project's scripts go after --)",
					operands[len(operands)-1])
			case o.Audit == "-": // CLI-118
				return noStandardInput("--audit")
			case overHTTP || options.Addr != "":
			case c.Flags.Any("project-root", "audit") != "":
				return cli.Usagef("--%s needs --http", c.Flags.Any("project-root", "audit"))
			default:
				return run(s, o)
			}
			env := project.OSEnv()
			options.TrustRoots = options.TrustRoots || settings.Bool(env, "MCPBASH_HTTP_TRUST_CLIENT_ROOTS")
			var err error
			if options.Access, err = access(env); err != nil {
				return err
			}
			o.HTTP = &options
			return run(s, o)
		},
	}
	c.Flags.Bool(&overHTTP, "http",
		"serve over HTTP, at ADDR: HOST:PORT, PORT (on this machine alone) or unix:PATH; else at "+httpd.DefaultAddr)
	c.Flags.ProjectRoot(&o.Root)
	c.Flags.String(&o.Audit, "audit", "VALUE",
		"where to record who called what: off, stderr, journald, unix:PATH, a file or a folder").Completes(cli.Files)
	access = accessFlags(&c.Flags)
	c.Flags.Bool(&options.TrustRoots, "trust-client-roots", "use the roots of clients that can be on another machine")
	c.Flags.String(&options.StateKeyFile, "state-key-file", "FILE",
		"the keys that seal the state of calls, for replicas")
	c.Flags.String(&options.Advertise, "advertise", "URL", "where other replicas reach this server")
	c.Flags.String(&options.Metrics, "metrics", "ADDR", "where Prometheus reads /metrics; ADDR is as for --http")
	return c
}

// serverOf returns a function that checks the server which these arguments start. The environment is the one of this
// process, because a container shares it with its server.
func serverOf(args []string) (ask func(context.Context) error, ok bool) {
	o, ok := servedBy(args)
	if o == nil || strings.HasSuffix(o.Addr, ":0") || o.Addr == "0" { // port 0 means that the system chooses one
		return nil, ok
	}
	return func(ctx context.Context) error { return httpd.Alive(ctx, o.Addr, o.Access.Cert != "") }, ok
}

// servedBy returns the options of the server that these arguments start. They are nil for a server over standard input
// and output. ok is false if the arguments start no server.
func servedBy(args []string) (o *httpd.Options, ok bool) {
	if at := serveOption(args); at >= 0 {
		args = append([]string{"serve"}, args[at:]...)
	}
	switch {
	case len(args) == 0, args[0] == "debug":
		return nil, true
	case args[0] != "serve":
		return nil, false
	}
	own, _ := splitArguments(args[1:])
	c := serveCommand(func(_ cli.Streams, found serve.Options) error {
		o, ok = found.HTTP, true
		return nil
	})
	c.Main(cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, "mcp-bash serve", own)
	return o, ok
}

// accessFlags adds the options that define who may use a server over HTTP. The returned function returns their values,
// or an error for wrong usage. A missing option has the value of its environment variable.
func accessFlags(f *cli.Flags) func(project.Env) (httpd.Access, error) {
	a := &httpd.Access{}
	texts := []struct {
		value                      *string
		name, form, help, variable string
	}{
		{&a.TokenFile, "token-file", "FILE", "accept the bearer tokens of FILE, which mcp-bash token makes",
			tokenFileVariable},
		{&a.OIDCIssuer, "oidc-issuer", "URL", "accept access tokens of this OpenID provider",
			"MCPBASH_HTTP_OIDC_ISSUER"},
		{&a.OIDCAudience, "oidc-audience", "TEXT", "the audience of access tokens (default: the public URL)",
			"MCPBASH_HTTP_OIDC_AUDIENCE"},
		{&a.PublicURL, "public-url", "URL", "the address of the server, as clients know it", "MCPBASH_HTTP_PUBLIC_URL"},
		{&a.Cert, "tls-cert", "FILE", "use TLS with this certificate, which may be replaced at any time",
			"MCPBASH_HTTP_TLS_CERT"},
		{&a.Key, "tls-key", "FILE", "the key of the certificate", "MCPBASH_HTTP_TLS_KEY"},
		{&a.ClientCA, "tls-client-ca", "FILE", "require certificates of clients that these authorities signed",
			"MCPBASH_HTTP_TLS_CLIENT_CA"},
	}
	for _, t := range texts {
		flag := f.String(t.value, t.name, t.form, t.help)
		if t.form == "FILE" {
			flag.Completes(cli.Files)
		}
	}
	f.Strings(&a.Hosts, "allow-host", "HOST", "allow this value of Host; may be repeated")
	f.Strings(&a.Origins, "allow-origin", "ORIGIN", "let web pages of this origin use the server; may be repeated")
	f.Strings(&a.Proxies, "trusted-proxy", "CIDR", "take the addresses of clients from the proxies of this network; "+
		"may be repeated")
	return func(env project.Env) (httpd.Access, error) {
		for _, t := range texts {
			if !f.Given(t.name) {
				*t.value = env[t.variable]
			} else if t.form == "FILE" && *t.value == "-" { // CLI-118
				return *a, noStandardInput("--" + t.name)
			}
		}
		a.Hosts = append(a.Hosts, settings.Words(env["MCPBASH_HTTP_ALLOWED_HOSTS"])...)
		a.Origins = append(a.Origins, settings.Words(env["MCPBASH_HTTP_ALLOWED_ORIGINS"])...)
		a.Proxies = append(a.Proxies, settings.Words(env["MCPBASH_HTTP_TRUSTED_PROXIES"])...)
		return *a, nil
	}
}

// noStandardInput returns the error for "-" as the file of an option, because the server reads the file again.
func noStandardInput(option string) error {
	return cli.Usagef("%s takes a file, not standard input; a file of that name is ./-", option)
}
