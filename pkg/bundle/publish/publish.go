// Package publish announces bundles in an MCP registry, with their address and hash (cli
// chapter 15).
package publish

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"mcp-bash/pkg/bundle/internal/web"
	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/text/weburl"
)

// Official is the default registry.
const Official = "https://registry.modelcontextprotocol.io"

// A Bundle is a bundle that passed its checks.
type Bundle struct {
	File          string
	Manifest      json.RawMessage
	Name, Version string
	SHA256        string
}

// Open checks a bundle. The error is for a file that cannot be read, faults are the problems
// of the bundle.
func Open(file string) (b *Bundle, faults []mcpb.Fault, err error) {
	f, err := boundedfile.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	report, err := mcpb.CheckFile(f)
	if err != nil {
		return nil, nil, err
	}
	if report.Archive == nil {
		return nil, nil, errors.New("not a bundle")
	}
	return &Bundle{
		File: file, Manifest: report.Manifest, SHA256: report.SHA256,
		Name: rawjson.TextOf(report.Manifest, "name"), Version: rawjson.TextOf(report.Manifest, "version"),
	}, report.Faults, nil
}

// Entry returns the registry entry of a bundle at an address, under a name such as
// io.github.you/demo (CLI-1506).
func (b *Bundle) Entry(address, name string) ([]byte, error) {
	u, err := weburl.Parse(address)
	switch {
	case err == weburl.ErrForm || u.Scheme != "https":
		return nil, cli.Usagef("--url must begin with https://: %s", address)
	case u.User != nil || secrets.Text(address) != address:
		return nil, cli.Usagef("--url contains a login or a secret, which the registry would publish")
	case err != nil:
		return nil, cli.Usagef("--url: %v: %s", err, address)
	case !strings.Contains(address, "mcp"):
		return nil, cli.Usagef("--url must contain \"mcp\", as the registry requires: %s", address)
	case !mcpb.IsServerName(name):
		return nil, cli.Usagef("--server-name must be like io.github.you/demo: %s", name)
	}
	var j rawjson.Builder
	j.Object().Name("$schema").String("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json").
		Name("name").String(name)
	if title := rawjson.TextOf(b.Manifest, "display_name"); title != "" {
		j.Name("title").String(title)
	}
	j.Name("description").String(rawjson.TextOf(b.Manifest, "description")).Name("version").String(b.Version).
		Name("packages").Array().Object().Name("registryType").String("mcpb").Name("identifier").String(address).
		Name("fileSha256").String(b.SHA256).Name("transport").Object().Name("type").String("stdio").End().
		End().End().End()
	return append(rawjson.AppendIndent(nil, j.Bytes(), 0), '\n'), nil
}

// A Registry is an MCP registry that bundles are announced in.
type Registry struct {
	Base  string // the address: https, or http for a loopback address
	Token string // sent to that address only
	Web   web.Client
	Pause func(context.Context, time.Duration) error
}

// Limits on a request to a registry.
const (
	timeout   = 60 * time.Second
	attempts  = 4 // the first one and three retries
	maxAnswer = 1 << 20
)

// Announce submits an entry.
func (r *Registry) Announce(ctx context.Context, entry []byte) error {
	return r.post(ctx, "v0/publish", map[string]string{"Content-Type": "application/json"}, entry)
}

// Upload submits the whole bundle, for registries of the Bash edition.
func (r *Registry) Upload(ctx context.Context, b *Bundle) error {
	content, err := boundedfile.Read(b.File, mcpb.MaxTotal)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != b.SHA256 {
		return errors.New("the bundle changed while it was published")
	}
	name := url.PathEscape(b.Name)
	return r.post(ctx, "api/v1/bundles", map[string]string{"Content-Type": "application/octet-stream",
		"X-Bundle-Name": name}, content)
}

// post sends a request, and retries it if the registry is busy.
func (r *Registry) post(ctx context.Context, path string, header map[string]string, body []byte) error {
	address, err := r.address(path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, cli.Failf(cli.CodeTimeout,
		"no answer from the registry within %v", timeout))
	defer cancel()
	for attempt := 1; ; attempt++ {
		status, answer, err := r.once(ctx, address, header, body)
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if err != nil {
			return cli.Failf(cli.CodeNetwork, "Registry request failed (HTTP 000): %s", r.line(err.Error()))
		}
		switch status {
		case 200, 201:
			return nil
		case 429, 502, 503,
			504:
			if attempt < attempts {
				if err := r.Pause(ctx, time.Second<<(attempt-1)); err != nil {
					return err
				}
				continue
			}
		}
		return r.refusal(status, answer)
	}
}

// address returns the URL of a request. The token is sent unencrypted only to this machine.
func (r *Registry) address(path string) (string, error) {
	const want = "MCP_REGISTRY_URL must be an https URL without user, query and fragment; " +
		"http is for 127.0.0.1 and [::1] only"
	u, err := url.Parse(r.Base)
	if err != nil || u.Host == "" || weburl.CheckPort(u) != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", cli.Usagef("%s", want)
	}
	ip, _ := netip.ParseAddr(u.Hostname())
	if u.Scheme != "https" && (u.Scheme != "http" || !ip.IsLoopback()) {
		return "", cli.Usagef("%s", want)
	}
	return u.JoinPath(path).String(), nil
}

// line returns an answer of the registry on one line, without the token.
func (r *Registry) line(text string) string {
	return cli.Line((&secrets.Redactor{Values: []string{r.Token}}).Text(text))
}

func (r *Registry) once(ctx context.Context, address string, header map[string]string,
	body []byte) (status int, text string, err error) {
	header["Authorization"] = "Bearer " + r.Token
	status, answer, err := r.Web.Do(ctx, &web.Request{Method: "POST", URL: address, Header: header, Body: body,
		Limit: maxAnswer})
	return status, string(answer), err
}

// refusal returns the error for an answer with an error status (CLI-1506).
func (r *Registry) refusal(status int, answer string) error {
	switch status {
	case 401:
		return cli.Failf(cli.CodePolicy, "Authentication failed - check your API token")
	case 409:
		return cli.Failf(cli.CodeExists, "Conflict - bundle with this name/version already exists")
	case 422:
		return cli.Failf(cli.CodeInvalid, "Validation failed - bundle does not meet registry requirements: %s",
			r.line(answer))
	}
	if status >= 300 && status < 400 {
		return cli.Failf(cli.CodeNetwork, "Registry request failed (HTTP %d): it redirects, but the token is not sent "+
			"to other addresses. Set MCP_REGISTRY_URL to the new address", status)
	}
	return cli.Failf(cli.CodeNetwork, "Registry request failed (HTTP %d): %s", status, r.line(answer))
}

// Pause waits for a time, or until ctx ends.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// CheckToken returns an error for an invalid token. The error does not contain the token,
// which is secret.
func CheckToken(token string) error {
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("the token contains invalid characters")
	}
	return nil
}
