// Package publish announces servers in an MCP registry, with the packages that contain them (cli chapter 15).
//
// A [Product] is a file of the author, such as a bundle or a wheel. [NewEntry] compares the products and makes an
// [Entry], which is server.json. [Registry.Announce] sends it, with a token or after [Registry.Login].
package publish

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// A Registry is an MCP registry that servers are announced in.
type Registry struct {
	Base  string // the address: https, or http for a loopback address
	Token string // sent to the address Base only; [Registry.Login] sets it
	Web   web.Client
	Pause func(context.Context, time.Duration) error

	secrets []string // of a login
}

// Limits on a request to a registry.
const (
	timeout   = 60 * time.Second
	attempts  = 4 // the first one and three retries
	maxAnswer = 1 << 20
)

// The paths of requests below the address of a registry.
const (
	announcePath = "v0/publish"
	loginPath    = "v0/auth/github-oidc"
	uploadPath   = "api/v1/bundles" // of the Bash edition
)

// Announce submits an entry.
func (r *Registry) Announce(ctx context.Context, entry []byte) error {
	address, err := r.AnnounceURL()
	if err != nil {
		return err
	}
	_, err = r.send(ctx, &web.Request{Method: "POST", URL: address, Header: jsonContent(), Body: entry}, r.Token)
	return err
}

func jsonContent() map[string]string { return map[string]string{"Content-Type": "application/json"} }

// AnnounceURL returns the address of the request of Announce, or an error if the token must not be sent to it.
func (r *Registry) AnnounceURL() (string, error) { return below(r.Base, announcePath) }

// Upload submits the whole bundle, for registries of the Bash edition.
func (r *Registry) Upload(ctx context.Context, b *Product) error {
	content, err := boundedfile.Read(b.File, mcpb.MaxTotal)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != b.SHA256 {
		return errors.New("the bundle changed while it was published")
	}
	address, err := below(r.Base, uploadPath)
	if err != nil {
		return err
	}
	_, err = r.send(ctx, &web.Request{Method: "POST", URL: address, Body: content, Header: map[string]string{
		"Content-Type": "application/octet-stream", "X-Bundle-Name": url.PathEscape(b.Name)}}, r.Token)
	return err
}

// A Workflow is a job of GitHub Actions that may ask for tokens about itself (permissions: id-token: write).
type Workflow struct {
	URL, Token string // the address and the token of its requests
}

// Login logs in as a workflow. The registry accepts the token of GitHub for the names of the repository's owner, and
// returns one for five minutes.
func (r *Registry) Login(ctx context.Context, w Workflow) error {
	exchange, err := below(r.Base, loginPath)
	if err != nil {
		return err
	}
	base, err := url.Parse(r.Base)
	if err != nil {
		return err
	}
	if err := checkSecure(w.URL); err != nil {
		return fmt.Errorf("ACTIONS_ID_TOKEN_REQUEST_URL: %w", err)
	}
	ask, err := url.Parse(w.URL)
	if err != nil {
		return err
	}
	query := ask.Query()
	query.Set("audience", base.Scheme+"://"+strings.ToLower(base.Host))
	ask.RawQuery = query.Encode()
	r.secrets = append(r.secrets, w.Token)
	identity, err := r.token(ctx, &web.Request{Method: "GET", URL: ask.String()}, w.Token, "value")
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		return cli.Failf(cli.CodePolicy, "GitHub gives no token for the registry: %v", err)
	}
	var b rawjson.Builder
	r.Token, err = r.token(ctx, &web.Request{Method: "POST", URL: exchange, Header: jsonContent(),
		Body: b.Object().Name("oidc_token").String(identity).End().Bytes()}, "", "registry_token")
	return err
}

// token sends a request, and returns the token in a member of the answer.
func (r *Registry) token(ctx context.Context, q *web.Request, bearer, member string) (string, error) {
	answer, err := r.send(ctx, q, bearer)
	if err != nil {
		return "", err
	}
	doc, err := rawjson.Check(answer)
	if err != nil {
		return "", err
	}
	token := rawjson.TextOf(doc, member)
	if token == "" || CheckToken(token) != nil {
		return "", fmt.Errorf("the answer has no token in %q", member)
	}
	r.secrets = append(r.secrets, token)
	return token, nil
}

// send sends a request with a bearer token, or without one for "". It retries the request if the registry is busy.
func (r *Registry) send(ctx context.Context, q *web.Request, bearer string) (answer []byte, err error) {
	if q.Limit = maxAnswer; q.Header == nil {
		q.Header = map[string]string{}
	}
	if bearer != "" {
		q.Header["Authorization"] = "Bearer " + bearer
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, cli.Failf(cli.CodeTimeout,
		"no answer from the registry within %v", timeout))
	defer cancel()
	for attempt := 1; ; attempt++ {
		status, answer, err := r.Web.Do(ctx, q)
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		if err != nil {
			return nil, cli.Failf(cli.CodeNetwork, "Registry request failed (HTTP 000): %s", r.line(err.Error()))
		}
		switch status {
		case 200, 201:
			return answer, nil
		case 429, 502, 503, 504:
			if attempt < attempts {
				if err := r.Pause(ctx, time.Second<<(attempt-1)); err != nil {
					return nil, err
				}
				continue
			}
		}
		return nil, r.refusal(status, string(answer))
	}
}

// below returns the URL of a request to a registry. The token is sent unencrypted only to this machine.
func below(base, path string) (string, error) {
	u, err := url.Parse(base)
	if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" || checkSecure(base) != nil {
		return "", cli.Usagef("MCP_REGISTRY_URL must be an https URL without user, query and fragment; " +
			"http is for 127.0.0.1 and [::1] only")
	}
	return u.JoinPath(path).String(), nil
}

// checkSecure returns an error for a URL to which no secret is sent.
func checkSecure(address string) error {
	u, err := weburl.Parse(address)
	if err == nil && u.Scheme != "https" {
		if ip, _ := netip.ParseAddr(u.Hostname()); !ip.IsLoopback() {
			err = errors.New("not an https URL; http is for 127.0.0.1 and [::1] only")
		}
	}
	return err
}

// line returns an answer of the registry on one line, without tokens.
func (r *Registry) line(text string) string {
	return cli.Line((&secrets.Redactor{Values: append([]string{r.Token}, r.secrets...)}).Text(text))
}

// refusal returns the error for an answer with an error status.
func (r *Registry) refusal(status int, answer string) error {
	code, text := cli.CodeNetwork, fmt.Sprintf("Registry request failed (HTTP %d): %s", status, r.line(answer))
	switch status {
	case 400:
		code = cli.CodeInvalid
	case 401:
		code, text = cli.CodePolicy, "Authentication failed - check your API token"
	case 403:
		code = cli.CodePolicy
	case 409:
		code, text = cli.CodeExists, "Conflict - bundle with this name/version already exists"
	case 422:
		code, text = cli.CodeInvalid, "Validation failed - bundle does not meet registry requirements: "+r.line(answer)
	}
	if status >= 300 && status < 400 {
		text = fmt.Sprintf("Registry request failed (HTTP %d): it redirects, but the token is not sent to other addresses. "+
			"Set MCP_REGISTRY_URL to the new address", status)
	}
	return cli.Failf(code, "%s", text)
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
