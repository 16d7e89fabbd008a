package http1

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// maxHead bounds the status line and the header of an answer, and the trailer
// behind it, each.
const maxHead = 64 << 10

// A ProtocolError is an answer that is no HTTP.
type ProtocolError string

func (e ProtocolError) Error() string { return string(e) }

const errHeadTooLong = ProtocolError("the header of the answer exceeds 65536 bytes")

// A Response is what is answered. Its body has to be read before the next
// request; reading fails when it ends too early.
type Response struct {
	Status int
	Header Header
	Length int64 // of the body, as declared; -1: it is not
	Body   io.Reader

	keeps bool // another answer may follow on the connection
}

// A Header holds the fields by their names in lower case.
type Header map[string][]string

// Get returns the first field of a name, given in lower case.
func (h Header) Get(name string) string {
	if values := h[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// has reports whether a field that is a list holds a word.
func (h Header) has(name, word string) bool {
	for _, value := range h[name] {
		for part := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.TrimSpace(part), word) {
				return true
			}
		}
	}
	return false
}

// readResponse reads the head of an answer, skipping those that announce it.
func readResponse(r *bufio.Reader, method string) (*Response, error) {
	head := lines{r, maxHead}
	for {
		status, minor, err := head.status()
		if err != nil {
			return nil, err
		}
		header, err := head.header()
		if err != nil {
			return nil, err
		}
		if status == 101 {
			return nil, ProtocolError("the server changes the protocol")
		}
		if status >= 200 {
			return frame(r, &Response{Status: status, Header: header, Length: -1, keeps: minor > 0 && !header.has("connection", "close")}, method)
		}
	}
}

// frame finds out where the body ends.
func frame(r *bufio.Reader, a *Response, method string) (*Response, error) {
	lengths, coding := a.Header["content-length"], a.Header["transfer-encoding"]
	switch {
	case method == "CONNECT" && a.Status < 300, a.Status == 204, a.Status == 304:
		a.Length, a.Body = 0, strings.NewReader("")
	case len(coding) > 0:
		if len(coding) > 1 || !strings.EqualFold(coding[0], "chunked") {
			return nil, ProtocolError("the server uses an unknown transfer encoding")
		}
		a.Body = &chunked{r: r}
	case len(lengths) > 0:
		n, err := strconv.ParseUint(lengths[0], 10, 63)
		for _, other := range lengths[1:] {
			if other != lengths[0] {
				err = strconv.ErrSyntax
			}
		}
		if err != nil {
			return nil, ProtocolError("the server gives no usable Content-Length")
		}
		a.Length = int64(n)
		a.Body = &exactly{r, a.Length}
	default:
		a.Body, a.keeps = r, false
	}
	return a, nil
}

// lines reads the lines of a head, of so many bytes in all.
type lines struct {
	r    *bufio.Reader
	left int
}

func (l *lines) next() (string, error) {
	var line []byte
	for {
		piece, err := l.r.ReadSlice('\n')
		if l.left -= len(piece); l.left < 0 {
			return "", errHeadTooLong
		}
		line = append(line, piece...)
		if err == nil {
			line = line[:len(line)-1]
			if n := len(line); n > 0 && line[n-1] == '\r' {
				line = line[:n-1]
			}
			return string(line), nil
		}
		if err != bufio.ErrBufferFull {
			return "", unexpected(err)
		}
	}
}

// status reads a status line.
func (l *lines) status() (status, minor int, err error) {
	line, err := l.next()
	if err != nil {
		return 0, 0, err
	}
	version, rest, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(rest, " ")
	status, err = strconv.Atoi(code)
	if version != "HTTP/1.1" && version != "HTTP/1.0" || len(code) != 3 || err != nil || status < 100 {
		return 0, 0, ProtocolError("the server does not speak HTTP/1.1")
	}
	return status, int(version[len(version)-1] - '0'), nil
}

// header reads fields up to the empty line.
func (l *lines) header() (Header, error) {
	h := Header{}
	for {
		line, err := l.next()
		if err != nil || line == "" {
			return h, err
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || !isToken(name) || strings.ContainsAny(value, "\r\x00") {
			return nil, ProtocolError("the header of the answer is malformed")
		}
		name = strings.ToLower(name)
		h[name] = append(h[name], strings.Trim(value, " \t"))
	}
}

func isToken(name string) bool {
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return name != ""
}

// exactly reads so many bytes and no fewer.
type exactly struct {
	r    io.Reader
	left int64
}

func (e *exactly) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	if int64(len(p)) > e.left {
		p = p[:e.left]
	}
	n, err := e.r.Read(p)
	if e.left -= int64(n); e.left == 0 {
		return n, nil
	}
	return n, unexpected(err)
}

// chunked reads a body that comes in chunks.
type chunked struct {
	r    *bufio.Reader
	left int64 // of the current chunk
	open bool  // a chunk has begun, and its end of line is still to come
	err  error
}

func (c *chunked) Read(p []byte) (int, error) {
	if c.err == nil && c.left == 0 {
		c.err = c.next()
	}
	if c.err != nil {
		return 0, c.err
	}
	if int64(len(p)) > c.left {
		p = p[:c.left]
	}
	n, err := c.r.Read(p)
	c.left -= int64(n)
	c.err = unexpected(err)
	return n, c.err
}

const errChunk = ProtocolError("a chunk of the answer is malformed")

// next begins a chunk; io.EOF: it was the last.
func (c *chunked) next() error {
	head := lines{c.r, 4 << 10}
	if c.open {
		switch line, err := head.next(); {
		case err != nil:
			return err
		case line != "":
			return errChunk
		}
	}
	line, err := head.next()
	if err != nil {
		return err
	}
	size, _, _ := strings.Cut(line, ";")
	n, err := strconv.ParseUint(strings.TrimRight(size, " \t"), 16, 62)
	if err != nil {
		return errChunk
	}
	if n == 0 {
		trailer := lines{c.r, maxHead}
		if _, err := trailer.header(); err != nil {
			return err
		}
		return io.EOF
	}
	c.left, c.open = int64(n), true
	return nil
}

// unexpected turns the end of a connection into an error.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
