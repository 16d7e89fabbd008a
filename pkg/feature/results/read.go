package results

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

const (
	// scheme begins the URIs of results.
	scheme = "mcpbash-result://"
	// maxPart is the maximum size of one part, in bytes.
	maxPart = 64 << 10
)

// Owns reports whether a URI has the form of a stored result's.
func Owns(uri string) bool { return strings.HasPrefix(uri, scheme) }

// Parts returns the token of a result's URI, and the name of the process that has the result, or "".
func Parts(uri string) (token, owner string) {
	path, _, _ := strings.Cut(strings.TrimPrefix(uri, scheme), "?")
	token, owner, _ = strings.Cut(path, "/")
	return token, owner
}

// NotFound returns the error for a result that the client cannot read.
func NotFound(uri string) *mcp.Error {
	var b rawjson.Builder
	return &mcp.Error{Code: mcp.CodeNotFound, Own: true, Message: "Resource not found",
		Data: b.Object().Name("uri").String(uri).End().Bytes()}
}

// A part is a range of a result, in lines or bytes.
type part struct {
	whole  string // the URI without the range
	offset int64
	limit  int64 // 0: as much as an answer can have
	bytes  bool  // offset and limit count bytes
}

var errRange = errors.New("offset and limit are whole numbers, limit is at least 1, and unit is lines or bytes")

// parsePart reads the token and the range of a URI.
func parsePart(uri string) (part, error) {
	var p part
	var query string
	p.whole, query, _ = strings.Cut(uri, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return p, errRange
	}
	for name, given := range values {
		value := given[0]
		n, err := strconv.ParseUint(value, 10, 62)
		switch {
		case len(given) > 1:
			return p, errRange
		case name == "offset" && err == nil:
			p.offset = int64(n)
		case name == "limit" && err == nil && n > 0:
			p.limit = int64(n)
		case name == "unit" && (value == "bytes" || value == "lines"):
			p.bytes = value == "bytes"
		default:
			return p, errRange
		}
	}
	return p, nil
}

// A Part is the answer to a read.
type Part struct {
	uri, mimeType, next string
	text                []byte
	size                int64
	binary              bool
}

// Read returns a part of a result.
func (c *Client) Read(uri string) (*Part, error) {
	p, err := parsePart(uri)
	if err != nil {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Invalid range: %s", err)
	}
	r, done, err := c.open(uri)
	if err != nil {
		return nil, err
	}
	defer done()
	answer := &Part{uri: uri, mimeType: r.mimeType, size: r.file.size, binary: media.IsBinary(r.mimeType)}
	p.bytes = p.bytes || answer.binary
	start := p.offset
	if !p.bytes {
		if start, err = lineStart(r.file, p.offset); err != nil {
			return nil, unreadable(err)
		}
	}
	want := int64(maxPart)
	if p.bytes && p.limit > 0 {
		want = min(want, p.limit)
	}
	text := make([]byte, max(0, min(want+utf8.UTFMax, r.file.size-start)))
	if _, err := r.file.ReadAt(text, start); err != nil && err != io.EOF {
		return nil, unreadable(err)
	}
	cut := int(min(want, int64(len(text))))
	if !answer.binary {
		cut = Cut(text, cut)
	}
	if cut == 0 && !answer.binary { // a character is longer than the limit
		cut = min(len(text), utf8.UTFMax)
		_, cut = utf8.DecodeRune(text[:cut])
	}
	text = text[:cut]
	next := start + int64(len(text))
	answer.text = text
	if !p.bytes {
		lines := p.limit
		for at := 0; p.limit > 0 && at < len(text); {
			end := bytes.IndexByte(text[at:], '\n') + 1
			if end == 0 {
				break
			}
			at += end
			if lines--; lines == 0 {
				answer.text, next = text[:at], start+int64(at)
			}
		}
	}
	if next < r.file.size {
		answer.next = fmt.Sprintf("%s?unit=bytes&offset=%d", p.whole, next)
		if p.bytes && p.limit > 0 {
			answer.next += fmt.Sprintf("&limit=%d", p.limit)
		}
	}
	return answer, nil
}

func unreadable(err error) error {
	return mcp.Errorf(mcp.CodeInternal, "Resource provider failed").WithReason(err)
}

// lineStart returns the offset of a line, counted from 0, or the end of the file.
func lineStart(file *File, line int64) (int64, error) {
	if line == 0 {
		return 0, nil
	}
	buffer := make([]byte, min(maxPart, file.size))
	for base := int64(0); base < file.size; {
		n, err := file.ReadAt(buffer, base)
		if err != nil && err != io.EOF {
			return 0, err
		}
		if n == 0 {
			break
		}
		have := int64(bytes.Count(buffer[:n], newline))
		if have < line {
			line, base = line-have, base+int64(n)
			continue
		}
		at := 0
		for ; line > 0; line-- {
			at += bytes.IndexByte(buffer[at:n], '\n') + 1
		}
		return base + int64(at), nil
	}
	return file.size, nil
}

// Lines returns the number of line ends in a range of the file.
func (f *File) Lines(from, to int64) (lines int, err error) {
	buffer := make([]byte, min(maxPart, max(0, to-from)))
	for from < to {
		n, err := f.ReadAt(buffer[:min(int64(len(buffer)), to-from)], from)
		if n == 0 {
			return lines, err
		}
		lines += bytes.Count(buffer[:n], newline)
		from += int64(n)
	}
	return lines, nil
}

var newline = []byte("\n")

// Cut returns the last boundary of a character at or before an index.
func Cut(text []byte, at int) int {
	for back := range min(at, utf8.UTFMax) {
		if at-back == len(text) || utf8.RuneStart(text[at-back]) {
			return at - back
		}
	}
	return at
}

// Size returns the approximate number of bytes that AppendJSON writes.
func (p *Part) Size() int { return 512 + len(p.uri) + len(p.text) + len(p.text)/3 }

// AppendJSON appends the result of resources/read, with the size and the URI of the next part in
// _meta (LR-12).
func (p *Part) AppendJSON(dst []byte, extra mcp.Extra) []byte {
	b := rawjson.Over(dst)
	b.Object()
	extra.AppendMembers(b)
	b.Name("contents").Array().Object().Name("uri").String(p.uri).Name("mimeType").String(p.mimeType)
	if p.binary {
		b.Name("blob").String(base64.StdEncoding.EncodeToString(p.text))
	} else {
		b.Name("text").Append(func(dst []byte) []byte { return rawjson.AppendValid(dst, p.text) })
	}
	b.Name("_meta").Object().Name("mcpbash/totalBytes").Int(int(p.size))
	b.Optional("mcpbash/next", p.next)
	extra.AppendOwnMeta(b.End().End().End())
	return b.End().Bytes()
}
