package main

import (
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/serve/httpd"
)

// accessFlags adds the options that define who may use a server over HTTP. The result returns their
// values. The error is for wrong usage. A variable of the environment counts where its option is not given (H-200).
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

// noStandardInput returns the error for an option whose file is read again while the server runs.
func noStandardInput(option string) error {
	return cli.Usagef("%s takes a file, not standard input; a file of that name is ./-", option)
}
