package git

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"mcp-bash/pkg/project"
	"mcp-bash/test/internet"
)

// A repository is a Git repository made of Go values.
type repository struct {
	format  format
	objects map[string]object
	refs    map[string]string // name to id
	peeled  map[string]string // name of a tag to the id of its commit
}

func newRepository(f format) *repository {
	return &repository{format: f, objects: map[string]object{}, refs: map[string]string{}, peeled: map[string]string{}}
}

func (r *repository) add(kind byte, data string) string {
	o := object{kind, []byte(data)}
	id := idOf(r.format, o)
	r.objects[id] = o
	return id
}

// A file of a tree: its content, the target of a link, or the commit of a submodule.
type file struct{ mode, content string }

// commit adds a commit with these files.
func (r *repository) commit(message string, files map[string]file) string {
	return r.add(commitObject,
		"tree "+r.tree(files)+"\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\n"+message+"\n")
}

func (r *repository) tree(files map[string]file) string {
	below := map[string]map[string]file{}
	entries := map[string]string{}
	for name, f := range files {
		if dir, rest, ok := strings.Cut(name, "/"); ok {
			if below[dir] == nil {
				below[dir] = map[string]file{}
			}
			below[dir][rest] = f
			continue
		}
		id := f.content
		if f.mode != "160000" {
			id = r.add(blobObject, f.content)
		}
		entries[name] = f.mode + " " + name + "\x00" + raw(id)
	}
	for name, inner := range below {
		entries[name] = modeTree + " " + name + "\x00" + raw(r.tree(inner))
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		text.WriteString(entries[name])
	}
	return r.add(treeObject, text.String())
}

// tag adds an annotated tag.
func (r *repository) tag(name, id, kind string) string {
	tag := r.add(tagObject, "object "+id+"\ntype "+kind+"\ntag "+name+"\ntagger A <a@b> 1 +0000\n\nnote\n")
	r.refs["refs/tags/"+name] = tag
	return tag
}

func raw(id string) string {
	b, err := hex.DecodeString(id)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// reach collects the objects that an object refers to. It leaves out blobs unless files is set.
func (r *repository) reach(id string, files bool, into map[string]object) {
	o, ok := r.objects[id]
	if !ok || into[id].data != nil {
		return
	}
	into[id] = o
	size := r.format.size
	switch o.kind {
	case commitObject, tagObject:
		_, next, _ := strings.Cut(strings.SplitN(string(o.data), "\n", 2)[0], " ")
		r.reach(next, files, into)
	case treeObject:
		for rest := o.data; len(rest) > 0; {
			end := bytes.IndexByte(rest, 0) + 1
			e := hex.EncodeToString(rest[end : end+size])
			if o := r.objects[e]; o.kind == treeObject || files {
				r.reach(e, files, into)
			}
			rest = rest[end+size:]
		}
	}
}

// A packer writes valid and invalid packs.
type packer struct {
	format format
	buf    bytes.Buffer
}

func newPacker(f format, count int) *packer {
	p := &packer{format: f}
	p.buf.WriteString("PACK\x00\x00\x00\x02")
	p.buf.Write([]byte{byte(count >> 24), byte(count >> 16), byte(count >> 8), byte(count)})
	return p
}

// deflaters are reused, because they are expensive to make.
var deflaters = sync.Pool{New: func() any { return zlib.NewWriter(nil) }}

// object writes an object and returns its offset. before is written between the header and the content.
func (p *packer) object(kind byte, size int, before string, content []byte) int {
	at := p.buf.Len()
	c := kind<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		p.buf.WriteByte(c | 0x80)
		c = byte(size & 0x7f)
	}
	p.buf.WriteByte(c)
	p.buf.WriteString(before)
	z := deflaters.Get().(*zlib.Writer)
	z.Reset(&p.buf)
	z.Write(content)
	z.Close()
	deflaters.Put(z)
	return at
}

func (p *packer) plain(o object) int { return p.object(o.kind, len(o.data), "", o.data) }

// back encodes the distance to the base of a delta.
func back(n int) string {
	b := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		b = append([]byte{byte(n&0x7f) | 0x80}, b...)
	}
	return string(b)
}

func (p *packer) done() []byte {
	h := p.format.hash()
	h.Write(p.buf.Bytes())
	return h.Sum(p.buf.Bytes())
}

func packOf(f format, objects map[string]object) []byte {
	p := newPacker(f, len(objects))
	for _, id := range slices.Sorted(maps.Keys(objects)) {
		p.plain(objects[id])
	}
	return p.done()
}

// sidebands returns a pack in packets, as servers send it.
func sidebands(pack []byte) []byte {
	var b []byte
	b = packet(b, "\x02Counting objects: 3, done.\n")
	for piece := range slices.Chunk(pack, 1000) {
		b = packet(b, "\x01"+string(piece))
	}
	b = packet(b, "\x01")
	return append(b, flushPacket...)
}

// A server serves a repository with version 2 of the protocol or an older one.
type server struct {
	*repository
	old    bool
	filter bool
	// pack, if set, changes the response, including its sidebands.
	pack func(http.ResponseWriter, []byte)

	mu       sync.Mutex
	requests []string
	packs    map[string][]byte // cache of packs
}

// packFor returns the pack for an object.
func (s *server) packFor(id string, files bool) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := id + " " + strconv.FormatBool(files)
	if s.packs[key] == nil {
		found := map[string]object{}
		s.reach(id, files, found)
		if s.packs == nil {
			s.packs = map[string][]byte{}
		}
		s.packs[key] = packOf(s.format, found)
	}
	return slices.Clone(s.packs[key])
}

func (s *server) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.requests
	s.requests = nil
	return list
}

func (s *server) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	s.mu.Lock()
	s.requests = append(s.requests, q.Method+" "+q.URL.RequestURI()+" "+q.Header.Get("Git-Protocol")+" "+string(body))
	s.mu.Unlock()
	switch {
	case q.Method == "GET" && q.URL.RequestURI() == "/team/docs.git/info/refs?service=git-upload-pack":
		s.advertise(w)
	case q.Method == "POST" && q.URL.Path == "/team/docs.git/git-upload-pack" &&
		bytes.Contains(body, []byte("command=ls-refs\n")):
		s.list(w, string(body))
	case q.Method == "POST" && q.URL.Path == "/team/docs.git/git-upload-pack":
		s.fetch(w, string(body))
	default:
		http.NotFound(w, q)
	}
}

func (s *server) advertise(w http.ResponseWriter) {
	b := append(packet(nil, "# service=git-upload-pack\n"), flushPacket...)
	if !s.old {
		b = packet(b, "version 2\n")
		b = packet(b, "agent=test/1\n")
		b = packet(b, "ls-refs=unborn\n")
		feature := "fetch=shallow wait-for-done"
		if s.filter {
			feature += " filter"
		}
		b = packet(b, feature+"\n")
		b = packet(b, "object-format="+s.format.name+"\n")
		w.Write(append(b, flushPacket...))
		return
	}
	capabilities := "\x00multi_ack side-band-64k ofs-delta shallow no-progress object-format=" + s.format.name +
		" agent=test/1"
	for _, name := range slices.Sorted(maps.Keys(s.refs)) {
		b = packet(b, s.refs[name]+" "+name+capabilities+"\n")
		if id := s.peeled[name]; id != "" {
			b = packet(b, id+" "+name+"^{}\n")
		}
		capabilities = ""
	}
	w.Write(append(b, flushPacket...))
}

func (s *server) list(w http.ResponseWriter, request string) {
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(s.refs)) {
		listed := !strings.Contains(request, "ref-prefix ")
		for _, line := range strings.Split(request, "\n") {
			if _, prefix, ok := strings.Cut(line, "ref-prefix "); ok && strings.HasPrefix(name, prefix) {
				listed = true
			}
		}
		if !listed {
			continue
		}
		line := s.refs[name] + " " + name
		if id := s.peeled[name]; id != "" {
			line += " peeled:" + id
		}
		b = packet(b, line+"\n")
	}
	w.Write(append(b, flushPacket...))
}

func (s *server) fetch(w http.ResponseWriter, request string) {
	_, id, _ := strings.Cut(request, "want ")
	id, _, _ = strings.Cut(id[:min(len(id), 2*s.format.size+1)], "\n")
	id = strings.TrimSpace(id)
	if _, ok := s.objects[id]; !ok {
		w.Write(packet(nil, "ERR upload-pack: not our ref "+id))
		return
	}
	pack := s.packFor(id, !strings.Contains(request, "filter blob:none"))
	switch {
	case s.old:
		w.Write(append(packet(nil, "shallow "+id), flushPacket...))
		w.Write(packet(nil, "NAK\n"))
	case strings.Contains(request, "deepen 1"):
		w.Write(packet(nil, "shallow-info\n"))
		w.Write(append(packet(nil, "shallow "+id), delimiterPacket...))
		w.Write(packet(nil, "packfile\n"))
	default:
		w.Write(packet(nil, "packfile\n"))
	}
	if s.pack != nil {
		s.pack(w, pack)
		return
	}
	w.Write(sidebands(pack))
}

// newInternet returns an internet with a handler at git.example.
func newInternet(t *testing.T, h http.Handler) *internet.Internet {
	in := internet.New(t)
	in.Host("git.example", "203.0.113.1", internet.HTTP(h))
	return in
}

func newProvider(in *internet.Internet, env project.Env) *Provider {
	all := project.Env{"MCPBASH_ENABLE_GIT_PROVIDER": "true", "MCPBASH_GIT_ALLOW_HOSTS": "git.example",
		"SSL_CERT_FILE": in.RootsAt}
	maps.Copy(all, env)
	return New(all, in.Network())
}

const repoURI = "git+https://git.example/team/docs.git#"
