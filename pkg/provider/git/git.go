// Package git is the provider of git+https:// resources. It fetches one file of one commit over the
// smart HTTP protocol, into memory.
//
// The package speaks version 2 of the protocol, and version 0 or 1 with older servers. It lists the
// refs and fetches one commit without history. If the server supports filters, it fetches only the
// requested file. It writes nothing to disk, starts no program, reads no Git configuration and
// sends no credentials. It ignores submodules, LFS, attributes and hooks. Each object is verified
// by its hash.
//
// docs/decisions/libraries.md explains why the package uses no Git library.
package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/provider/hosts"
	"mcp-bash/pkg/provider/internal/recent"
	"mcp-bash/pkg/provider/internal/web"
	"mcp-bash/pkg/provider/location"
	"mcp-bash/pkg/text/ascii"
	"mcp-bash/pkg/wire/mcp"
)

// Provider reads files of Git repositories.
type Provider struct {
	env     project.Env
	policy  hosts.Policy
	network hosts.Network
	on      bool
	timeout int // seconds
	kb      int
	known   recent.Cache[location.Git, version]
}

// A version is the content of a file in one commit.
type version struct {
	commit  string
	content []byte
}

// Limits of the cache: the number of files, and the size of one file in bytes.
const (
	cachedFiles = 16
	cachedBytes = 256 << 10
)

// New returns a provider with the settings of an environment:
// MCPBASH_ENABLE_GIT_PROVIDER, MCPBASH_GIT_* and those for proxies and
// certificates.
func New(env project.Env, network hosts.Network) *Provider {
	return &Provider{
		env:     env,
		policy:  hosts.ReadPolicy(env, "MCPBASH_GIT"),
		network: network,
		on:      settings.Bool(env, "MCPBASH_ENABLE_GIT_PROVIDER"),
		timeout: settings.Int(env, "MCPBASH_GIT_TIMEOUT"),
		kb:      settings.Int(env, "MCPBASH_GIT_MAX_KB"),
		known:   recent.Cache[location.Git, version]{Max: cachedFiles},
	}
}

// Read fetches a file. It fetches a cached file again only if the ref names another commit.
func (p *Provider) Read(ctx context.Context, uri string, limit int) ([]byte, error) {
	if !p.on {
		return nil, &provider.Failure{Status: provider.Invalid,
			Message: "git provider is disabled (set MCPBASH_ENABLE_GIT_PROVIDER=true to enable)"}
	}
	l, err := location.ParseGit(uri)
	if err == nil {
		err = p.policy.Permit(l.Origin)
	}
	var content []byte
	if err == nil {
		content, err = p.fetch(ctx, l)
	}
	switch {
	case err == nil && len(content) > limit:
		return nil, provider.OverLimit(limit)
	case err == nil:
		return content, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, p.failure(err, l)
}

func (p *Provider) fetch(ctx context.Context, l location.Git) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, settings.Seconds(p.timeout))
	defer cancel()
	content, err := p.read(ctx, l)
	if ended := ctx.Err(); err != nil && ended != nil {
		err = ended
	}
	return content, err
}

func (p *Provider) read(ctx context.Context, l location.Git) ([]byte, error) {
	client := &web.Client{Policy: p.policy, Network: p.network, Env: p.env, UserAgent: "git/2 (" + agent() + ")"}
	want := refName(l.Ref)
	r, err := connect(ctx, client, l, &budget{int64(p.kb) << 10}, want.includes)
	if err != nil {
		return nil, err
	}
	defer r.session.Close()
	id, err := want.settle(r)
	if err != nil {
		return nil, err
	}
	if known, ok := p.known.Get(l); ok && known.commit == id {
		return slices.Clone(known.content), nil
	}
	c := &checkout{remote: r}
	content, err := c.file(id, l.Path)
	if err == nil && len(content) <= cachedBytes {
		p.known.Put(l, version{id, slices.Clone(content)})
	}
	return content, err
}

// A checkout has the objects of one commit. It fetches file contents on demand.
type checkout struct {
	*remote
	objects map[string]object
}

func (c *checkout) file(commit, path string) (content []byte, err error) {
	if c.objects, err = c.fetch(commit, true, !c.leavesOut()); err != nil {
		return nil, err
	}
	root, err := rootOf(c.objects, commit)
	if err != nil {
		return nil, err
	}
	id, err := find(c, root, path, c.format.size)
	if err != nil {
		return nil, err
	}
	return c.object(id, blobObject)
}

// object returns the content of an object and checks the kind. It fetches missing blobs.
func (c *checkout) object(id string, kind byte) ([]byte, error) {
	o, ok := c.objects[id]
	if !ok && kind == blobObject && c.leavesOut() {
		more, err := c.fetch(id, false, true)
		if err != nil {
			return nil, err
		}
		o, ok = more[id]
	}
	if !ok || o.kind != kind {
		return nil, web.ProtocolError("the server omits an object of the commit")
	}
	return o.data, nil
}

func (p *Provider) failure(err error, l location.Git) error {
	var done *provider.Failure
	var refused *hosts.Refusal
	switch {
	case errors.As(err, &done):
		return err
	case errors.As(err, &refused):
		return p.refusal(refused)
	case errors.Is(err, errTooLarge):
		return &provider.Failure{Status: provider.TooLarge,
			Message: fmt.Sprintf("Repository size exceeds limit (%d KB)", p.kb)}
	}
	f := &provider.Failure{Status: provider.FetchFailed, Message: "Failed to clone " + l.URL() + " @ " + l.Ref}
	if location.IsCommit(l.Ref) {
		f.Message = "Failed to fetch commit " + l.Ref
	}
	f.Log = f.Message + ": " + web.Explain(err)
	if errors.Is(err, context.DeadlineExceeded) {
		f.Log += fmt.Sprintf(" after %d s", p.timeout)
	}
	return f
}

func (p *Provider) refusal(r *hosts.Refusal) error {
	f := &provider.Failure{Status: provider.Invalid, Message: "git provider blocked host " + r.Name(),
		Log: p.policy.Report(r), Cause: mcp.CausePolicy}
	switch r.Reason {
	case hosts.UserInfo:
		f.Cause = mcp.CauseInvalid
		f.Message = "git provider refuses userinfo in URI"
	case hosts.Closed:
		f.Message = "git provider requires MCPBASH_GIT_ALLOW_HOSTS or MCPBASH_GIT_ALLOW_ALL=true when enabled\n" +
			f.Message
	}
	return f
}

// A refName is a ref as the user wrote it.
type refName string

// names returns the full ref names that w can mean, by precedence.
func (w refName) names() []string {
	switch name := string(w); {
	case name == "" || name == "HEAD":
		return []string{"HEAD"}
	case strings.HasPrefix(name, "refs/"):
		return []string{name}
	default:
		return []string{"refs/heads/" + name, "refs/tags/" + name}
	}
}

func (w refName) includes(name, id string) bool {
	return slices.Contains(w.names(), name) ||
		location.IsCommit(string(w)) && strings.HasPrefix(id, ascii.Lower(string(w)))
}

var errNoRef = web.ProtocolError("no such branch, tag or commit")

// settle returns the commit id that w means in a repository.
func (w refName) settle(r *remote) (id string, err error) {
	commit := location.IsCommit(string(w))
	if commit && len(w) == 2*r.format.size {
		return ascii.Lower(string(w)), nil
	}
	var prefixes []string // an abbreviated id needs all refs, so there are no prefixes
	if !commit {
		prefixes = w.names()
	}
	list, err := r.refs(prefixes, w.includes)
	if err != nil {
		return "", err
	}
	if commit {
		for _, found := range list {
			switch {
			case !strings.HasPrefix(found.id, ascii.Lower(string(w))), found.id == id:
			case id != "":
				return "", web.ProtocolError("ambiguous commit prefix")
			default:
				id = found.id
			}
		}
		if id != "" {
			return id, nil
		}
	}
	for _, name := range w.names() {
		if at := slices.IndexFunc(list, func(r ref) bool { return r.name == name }); at >= 0 {
			return list[at].id, nil
		}
	}
	return "", errNoRef
}

// A budget is the number of bytes that may still be received or unpacked.
type budget struct{ left int64 }

var errTooLarge = errors.New("the repository is too large")

func (b *budget) take(n int64) error {
	if n > b.left {
		b.left = 0
		return errTooLarge
	}
	b.left -= n
	return nil
}

type budgetReader struct {
	r io.Reader
	b *budget
}

func (c budgetReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if over := c.b.take(int64(n)); over != nil {
		return 0, over
	}
	return n, err
}

const (
	maxLinks  = 16
	maxTags   = 5       // the number of tags between a ref and its commit
	maxTarget = 4 << 10 // bytes of a symbolic link
)

const errObject = web.ProtocolError("an object of the repository is malformed")

// rootOf returns the tree of a commit, or of the commit that a tag refers to.
func rootOf(s map[string]object, id string) (string, error) {
	for range maxTags {
		o, ok := s[id]
		if !ok {
			return "", web.ProtocolError("the server omits the commit")
		}
		header, _, _ := bytes.Cut(o.data, []byte("\n"))
		key, value, _ := strings.Cut(string(header), " ")
		switch {
		case o.kind == commitObject && key == "tree":
			return value, nil
		case o.kind == tagObject && key == "object":
			id = value
		default:
			return "", errObject
		}
	}
	return "", web.ProtocolError("the tag names nothing but tags")
}

type entry struct {
	mode string
	id   string
}

// Modes of tree entries. Other modes are submodules.
const (
	modeTree = "40000"
	modeLink = "120000"
	modeFile = "100" // prefix of the modes of regular files
)

func lookUp(tree []byte, name string, size int) (e entry, ok bool, err error) {
	for len(tree) > 0 {
		mode, rest, ok := bytes.Cut(tree, []byte(" "))
		if !ok {
			return e, false, errObject
		}
		found, rest, ok := bytes.Cut(rest, []byte{0})
		if !ok || len(rest) < size {
			return e, false, errObject
		}
		if string(found) == name {
			return entry{strings.TrimLeft(string(mode), "0"), hex.EncodeToString(rest[:size])}, true, nil
		}
		tree = rest[size:]
	}
	return e, false, nil
}

// find returns the id of the file at a path below a tree. It follows symbolic links within the tree.
func find(c *checkout, root, path string, idSize int) (string, error) {
	absent := func(what string) (string, error) {
		return "", &provider.Failure{Status: provider.NotFound, Log: "File " + path + " " + what}
	}
	trees, links := []string{root}, 0
	todo := strings.Split(path, "/")
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			if len(trees) == 1 {
				return absent("escapes repository root")
			}
			trees = trees[:len(trees)-1]
			continue
		}
		tree, err := c.object(trees[len(trees)-1], treeObject)
		if err != nil {
			return "", err
		}
		e, ok, err := lookUp(tree, name, idSize)
		switch {
		case err != nil:
			return "", err
		case !ok:
			return absent("not found in repository")
		case e.mode == modeTree:
			trees = append(trees, e.id)
		case e.mode == modeLink:
			if links++; links > maxLinks {
				return absent("is behind too many symbolic links")
			}
			target, err := c.object(e.id, blobObject)
			if err != nil {
				return "", err
			}
			if len(target) > maxTarget || bytes.HasPrefix(target, []byte("/")) {
				return absent("escapes repository root")
			}
			todo = append(strings.Split(string(target), "/"), todo...)
		case strings.HasPrefix(e.mode, modeFile):
			if len(todo) > 0 {
				return absent("not found in repository") // a path below a file
			}
			return e.id, nil
		default:
			return absent("is a submodule")
		}
	}
	return absent("is a directory")
}
