package git

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/provider/hosts"
	"mcp-bash/pkg/provider/internal/web"
	"mcp-bash/pkg/provider/location"
	"mcp-bash/pkg/text/ascii"
)

type remote struct {
	session *web.Session
	origin  hosts.Origin
	repo    string
	budget  *budget
	format  format
	caps    map[string]string // capabilities of the server
	old     bool              // the server does not support version 2
	pinned  []ref             // the wanted refs that an old server advertised
}

const (
	service      = "git-upload-pack"
	maxRedirects = 3
	maxCaps      = 200
)

// version2 requests version 2 of the protocol. Older servers ignore the header.
var version2 = http.Header{"Git-Protocol": {"version=2"}}

func statusError(status int) error { return web.ProtocolError(fmt.Sprintf("HTTP error: %d", status)) }

// connect opens a repository. An old server advertises all refs, of which wanted selects some.
func connect(ctx context.Context, c *web.Client, l location.Git, b *budget,
	wanted func(name, id string) bool) (*remote, error) {
	session, err := c.Open(ctx, l.Origin)
	if err != nil {
		return nil, err
	}
	r := &remote{session: session, origin: l.Origin, repo: l.Repo, budget: b, format: sha1Format,
		caps: map[string]string{}}
	if err := r.discover(wanted); err != nil {
		session.Close()
		return nil, err
	}
	return r, nil
}

func (r *remote) discover(wanted func(name, id string) bool) error {
	for range maxRedirects + 1 {
		answer, err := r.session.Do(http.MethodGet, r.repo+"/info/refs?service="+service, version2, nil)
		if err != nil {
			return err
		}
		switch {
		case answer.StatusCode/100 == 2:
			return r.advertisement(newPackets(budgetReader{answer.Body, r.budget}), wanted)
		case answer.StatusCode/100 == 3:
			if err := r.follow(answer.Header.Get("Location")); err != nil {
				return err
			}
		default:
			return statusError(answer.StatusCode)
		}
	}
	return web.ProtocolError("the server redirects too often")
}

// follow changes the path of the repository after a redirect. The redirect must keep the host, the port and https.
func (r *remote) follow(to string) error {
	target := to
	if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") {
		authority, rest, ok, err := hosts.Cut(to, "https")
		if !ok || err != nil {
			return web.ProtocolError("the server redirects to another scheme than https")
		}
		o, err := hosts.ParseOrigin(authority)
		if err != nil || o.HostPort(web.DefaultPort) != r.origin.HostPort(web.DefaultPort) {
			return web.ProtocolError("the server redirects to another host or port")
		}
		target = rest
	}
	repo, ok := strings.CutSuffix(target, "/info/refs?service="+service)
	if !ok {
		return web.ProtocolError("the server redirects to a URL that is not a repository")
	}
	r.repo = repo
	return nil
}

func (r *remote) advertisement(p *packets, wanted func(name, id string) bool) error {
	line, k, err := p.line()
	if err != nil {
		return err
	}
	if line == "# service="+service { // optional before version 2
		if _, k, err = p.line(); err == nil && k == flush {
			line, k, err = p.line()
		}
		if err != nil {
			return err
		}
	}
	switch {
	case k == data && line == "version 2":
		err = r.readCapabilities(p)
	case k == data && line == "version 1":
		if line, k, err = p.line(); err == nil {
			err = r.readRefs(p, line, k, wanted)
		}
	default:
		err = r.readRefs(p, line, k, wanted)
	}
	if err != nil {
		return err
	}
	switch r.caps["object-format"] {
	case "", "sha1":
	case "sha256":
		r.format = sha256Format
	default:
		return web.ProtocolError("the repository uses an unknown object format")
	}
	drain(p.r)
	return nil
}

// readCapabilities reads the capabilities of version 2, one on each line.
func (r *remote) readCapabilities(p *packets) error {
	for range maxCaps {
		line, k, err := p.line()
		if err != nil || k != data {
			return err
		}
		name, value, _ := strings.Cut(line, "=")
		r.caps[name] = value
	}
	return web.ProtocolError("the server has too many capabilities")
}

// readRefs reads the ref advertisement of an old server. The first line also has the capabilities.
func (r *remote) readRefs(p *packets, line string, k kind, wanted func(name, id string) bool) error {
	r.old = true
	text, capabilities, _ := strings.Cut(line, "\x00")
	for i, word := range ascii.Words(capabilities) {
		if i == maxCaps {
			return web.ProtocolError("the server has too many capabilities")
		}
		name, value, _ := strings.Cut(word, "=")
		r.caps[name] = value
	}
	for err := error(nil); ; line, k, err = p.line() {
		switch {
		case err != nil:
			return err
		case k != data:
			return nil
		}
		if capabilities == "" {
			text = line
		}
		capabilities = ""
		id, name, ok := strings.Cut(text, " ")
		if !ok || !isHex(id) {
			return web.ProtocolError("the list of refs is malformed")
		}
		if wanted(name, id) {
			r.pinned = append(r.pinned, ref{name, id})
		}
	}
}

// A ref is a name and the id of its commit or tag. The name with the suffix peeled refers to the commit of a tag.
type ref struct{ name, id string }

const peeled = "^{}"

// refs returns the wanted refs whose names begin with one of the prefixes, or all wanted refs without prefixes.
func (r *remote) refs(prefixes []string, wanted func(name, id string) bool) ([]ref, error) {
	if r.old {
		return r.pinned, nil
	}
	request := r.command("ls-refs")
	request = packet(request, "peel\n")
	for _, prefix := range prefixes {
		request = packet(request, "ref-prefix "+prefix+"\n")
	}
	body, err := r.post(append(request, flushPacket...))
	if err != nil {
		return nil, err
	}
	var list []ref
	for p := newPackets(body); ; {
		line, k, err := p.line()
		if err != nil {
			return nil, err
		}
		if k != data {
			drain(p.r)
			return list, nil
		}
		words := strings.Split(line, " ")
		if len(words) < 2 || !isHex(words[0]) && words[0] != "unborn" {
			return nil, web.ProtocolError("the list of refs is malformed")
		}
		found := []ref{{words[1], words[0]}}
		for _, attribute := range words[2:] {
			if id, ok := strings.CutPrefix(attribute, "peeled:"); ok {
				found = append(found, ref{words[1] + peeled, id})
			}
		}
		for _, f := range found {
			if isHex(f.id) && wanted(f.name, f.id) {
				list = append(list, f)
			}
		}
	}
}

func (r *remote) command(name string) []byte {
	b := packet(nil, "command="+name+"\n")
	if _, ok := r.caps["agent"]; ok {
		b = packet(b, "agent="+agent()+"\n")
	}
	if _, ok := r.caps["object-format"]; ok {
		b = packet(b, "object-format="+r.format.name+"\n")
	}
	return append(b, delimiterPacket...)
}

func agent() string { return "mcpbash/" + cli.Version }

// fetch returns an object and all objects that it refers to. With shallow, it omits the parents of
// a commit. Without files, the server may omit blobs.
func (r *remote) fetch(id string, shallow, files bool) (map[string]object, error) {
	if r.old {
		return r.fetchOld(id)
	}
	request := r.command("fetch")
	request = packet(request, "no-progress\n")
	request = packet(request, "ofs-delta\n")
	if shallow && r.fetches("shallow") {
		request = packet(request, "deepen 1\n")
	}
	if !files {
		request = packet(request, "filter blob:none\n")
	}
	request = packet(request, "want "+id+"\n")
	request = packet(request, "done\n")
	body, err := r.post(append(request, flushPacket...))
	if err != nil {
		return nil, err
	}
	p := newPackets(body)
	for {
		line, _, err := p.line()
		if err != nil {
			return nil, err
		}
		if line == "packfile" {
			objects, err := unpack(&sideband{packets: p}, r.format, r.budget)
			drain(p.r)
			return objects, err
		}
	}
}

func (r *remote) fetches(feature string) bool {
	return slices.Contains(ascii.Words(r.caps["fetch"]), feature)
}

func (r *remote) leavesOut() bool { return !r.old && r.fetches("filter") }

// fetchOld is fetch for servers without version 2.
func (r *remote) fetchOld(id string) (map[string]object, error) {
	want := "want " + id
	for _, feature := range []string{"side-band-64k", "ofs-delta", "no-progress"} {
		if _, ok := r.caps[feature]; ok {
			want += " " + feature
		}
	}
	if _, ok := r.caps["object-format"]; ok {
		want += " object-format=" + r.format.name
	}
	request := packet(nil, want+" agent="+agent()+"\n")
	_, shallow := r.caps["shallow"]
	if shallow {
		request = packet(request, "deepen 1\n")
	}
	request = packet(append(request, flushPacket...), "done\n")
	body, err := r.post(request)
	if err != nil {
		return nil, err
	}
	p := newPackets(body)
	for {
		line, k, err := p.line()
		switch {
		case err != nil:
			return nil, err
		case k == data && line == "NAK":
			if _, ok := r.caps["side-band-64k"]; ok {
				return unpack(&sideband{packets: p}, r.format, r.budget)
			}
			return unpack(p.r, r.format, r.budget)
		case k == data && !strings.HasPrefix(line, "shallow "):
			return nil, web.ProtocolError("the server sends an unexpected line")
		}
	}
}

func (r *remote) post(request []byte) (io.Reader, error) {
	header := http.Header{}
	if !r.old {
		header = version2.Clone()
	}
	header.Set("Content-Type", "application/x-"+service+"-request")
	answer, err := r.session.Do(http.MethodPost, r.repo+"/"+service, header, bytes.NewReader(request))
	if err != nil {
		return nil, err
	}
	if answer.StatusCode/100 != 2 {
		return nil, statusError(answer.StatusCode)
	}
	return budgetReader{answer.Body, r.budget}, nil
}

// drain reads to the end of a response, so that the connection can be reused.
func drain(r *bufio.Reader) { r.Discard(1) }

func isHex(id string) bool {
	return (len(id) == 2*sha1Format.size || len(id) == 2*sha256Format.size) &&
		strings.Trim(id, "0123456789abcdef") == ""
}

type kind int

const (
	data      kind = iota
	flush          // 0000: end of a list
	delimiter      // 0001: next section
	ended          // 0002: end of the response
)

// maxPacket is the maximum length of a packet, with the four digits.
const maxPacket = 65520

// packets reads pkt-lines: four hexadecimal digits with the length, then the content.
type packets struct {
	r    *bufio.Reader
	room [maxPacket]byte
}

func newPackets(r io.Reader) *packets { return &packets{r: bufio.NewReader(r)} }

// next returns the next packet, which is valid until the next call. At the end of input the error
// is io.ErrUnexpectedEOF, because a response ends with a flush packet.
func (p *packets) next() ([]byte, kind, error) {
	head := p.room[:4]
	if _, err := io.ReadFull(p.r, head); err != nil {
		return nil, 0, tooEarly(err)
	}
	n, err := strconv.ParseUint(string(head), 16, 16)
	switch {
	case err != nil || n == 3 || n > maxPacket:
		return nil, 0, web.ProtocolError("a packet has an invalid length")
	case n < 4:
		return nil, flush + kind(n), nil
	}
	body := p.room[:n-4]
	if _, err := io.ReadFull(p.r, body); err != nil {
		return nil, 0, tooEarly(err)
	}
	if text, ok := strings.CutPrefix(string(body[:min(len(body), 1000)]), "ERR "); ok {
		return nil, 0, web.ProtocolError("the server reports: " + printable(text))
	}
	return body, data, nil
}

// line is next for text, without the final newline.
func (p *packets) line() (string, kind, error) {
	body, k, err := p.next()
	return strings.TrimSuffix(string(body), "\n"), k, err
}

func tooEarly(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func packet(b []byte, text string) []byte {
	return append(fmt.Appendf(b, "%04x", len(text)+4), text...)
}

const flushPacket, delimiterPacket = "0000", "0001"

// sideband reads a pack out of packets that also carry messages.
type sideband struct {
	*packets
	rest []byte
	err  error
}

func (s *sideband) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.err == nil {
			s.rest, s.err = s.chunk()
		}
		if s.err != nil {
			return 0, s.err
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// chunk returns the next part of the pack, which may be empty.
func (s *sideband) chunk() ([]byte, error) {
	body, k, err := s.next()
	switch {
	case err != nil:
		return nil, err
	case k != data:
		return nil, io.EOF
	case len(body) == 0:
		return nil, web.ProtocolError("a packet has no sideband number")
	}
	switch body[0] {
	case 1:
		return body[1:], nil
	case 2: // progress
		return nil, nil
	case 3:
		return nil, web.ProtocolError("the server reports: " + printable(string(body[1:])))
	}
	return nil, web.ProtocolError("a packet has no sideband number")
}

// printable returns text of a server in a form that is safe to log.
func printable(text string) string {
	text = strings.ToValidUTF8(ascii.TrimLine(text[:min(len(text), 300)]), "?")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}
