// Package https is the provider of https:// resources.
package https

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/provider/hosts"
	"mcp-bash/pkg/provider/internal/web"
	"mcp-bash/pkg/provider/location"
	"mcp-bash/pkg/text/ascii"
	"mcp-bash/pkg/wire/mcp"
)

// Provider fetches resources over HTTPS.
type Provider struct {
	env     project.Env
	policy  hosts.Policy
	network hosts.Network
	timeout int // seconds
	bytes   int
}

// New returns a provider with the settings of an environment: MCPBASH_HTTPS_*, proxies and certificates.
func New(env project.Env, network hosts.Network) *Provider {
	return &Provider{
		env:     env,
		policy:  hosts.ReadPolicy(env, "MCPBASH_HTTPS"),
		network: network,
		timeout: settings.Int(env, "MCPBASH_HTTPS_TIMEOUT"),
		bytes:   settings.Int(env, "MCPBASH_HTTPS_MAX_BYTES"),
	}
}

// Read fetches a URI. It does not follow redirects: a redirect is a failure that contains the target.
func (p *Provider) Read(ctx context.Context, uri string, limit int) ([]byte, error) {
	data, _, err := p.ReadTyped(ctx, uri, limit)
	return data, err
}

// ReadTyped is Read and also returns the Content-Type of the response.
func (p *Provider) ReadTyped(ctx context.Context, uri string, limit int) (data []byte, mimeType string, err error) {
	origin, target, err := location.ParseHTTPS(uri)
	if err == nil {
		err = p.policy.Permit(origin)
	}
	if err == nil {
		data, mimeType, err = p.fetch(ctx, origin, target, limit)
	}
	switch {
	case err == nil:
		return data, mimeType, nil
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	}
	return nil, "", p.failure(err, origin.Host)
}

func (p *Provider) fetch(ctx context.Context, o hosts.Origin, target string, limit int) ([]byte, string, error) {
	ctx, cancel := context.WithTimeout(ctx, settings.Seconds(p.timeout))
	defer cancel()
	agent := cmp.Or(p.env["MCPBASH_HTTPS_USER_AGENT"], "mcpbash/"+cli.Version)
	if strings.ContainsFunc(agent, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, "", &provider.Failure{Status: provider.Invalid,
			Message: "MCPBASH_HTTPS_USER_AGENT must not have control characters"}
	}
	client := web.Client{Policy: p.policy, Network: p.network, Env: p.env, UserAgent: agent, OneRequest: true}
	session, err := client.Open(ctx, o)
	if err != nil {
		return nil, "", err
	}
	defer session.Close()
	answer, err := session.Do(http.MethodGet, target, nil, nil)
	if err != nil {
		return nil, "", err
	}
	if err := checkStatus(answer); err != nil {
		return nil, "", err
	}
	data, err := p.body(answer, limit)
	if ended := ctx.Err(); err != nil && ended != nil {
		err = ended
	}
	mimeType, _, _ := strings.Cut(answer.Header.Get("Content-Type"), ";")
	return data, ascii.Trim(mimeType), err
}

func checkStatus(answer *http.Response) error {
	switch answer.StatusCode / 100 {
	case 2:
		return nil
	case 3:
		return &provider.Failure{Status: provider.Redirected, Message: "redirect:" +
			strings.ToValidUTF8(answer.Header.Get("Location"), "?")}
	}
	return &provider.Failure{Status: provider.FetchFailed, Message: fmt.Sprintf("HTTP error: %d", answer.StatusCode)}
}

var errTooLarge = &provider.Failure{Status: provider.TooLarge, Message: "Resource exceeded size limit"}

func (p *Provider) body(answer *http.Response, limit int) ([]byte, error) {
	most, over := limit, provider.OverLimit(limit)
	if p.bytes <= most {
		most, over = p.bytes, errTooLarge
	}
	if answer.ContentLength > int64(most) {
		return nil, over
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, int64(most)+1))
	if len(data) > most {
		return nil, over
	}
	return data, err
}

func (p *Provider) failure(err error, host string) error {
	var done *provider.Failure
	var refused *hosts.Refusal
	switch {
	case errors.As(err, &done):
		return err
	case errors.As(err, &refused):
		return p.refusal(refused)
	}
	message := "HTTPS request to " + host + " failed: " + web.Explain(err)
	if errors.Is(err, context.DeadlineExceeded) {
		message += fmt.Sprintf(" after %d s", p.timeout)
	}
	return &provider.Failure{Status: provider.FetchFailed, Message: message}
}

func (p *Provider) refusal(r *hosts.Refusal) error {
	f := &provider.Failure{Status: provider.Invalid, Message: "HTTPS provider blocked host " + r.Name(),
		Log: p.policy.Report(r), Cause: mcp.CausePolicy}
	switch r.Reason {
	case hosts.UserInfo:
		f.Cause = mcp.CauseInvalid
		f.Message = "HTTPS provider refuses userinfo in URI"
	case hosts.Closed:
		f.Message += "\nHTTPS provider requires MCPBASH_HTTPS_ALLOW_HOSTS (or MCPBASH_HTTPS_ALLOW_ALL=true)"
	}
	return f
}
