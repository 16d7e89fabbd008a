package git

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"mcp-bash/pkg/provider/internal/web"
	"mcp-bash/pkg/text/ascii"
)

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
