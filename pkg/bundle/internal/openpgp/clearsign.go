package openpgp

import (
	"bytes"
	"encoding/base64"
	"fmt"
)

const (
	beginSigned    = "-----BEGIN PGP SIGNED MESSAGE-----"
	beginSignature = "-----BEGIN PGP SIGNATURE-----"
	endSignature   = "-----END PGP SIGNATURE-----"
	beginKeys      = "-----BEGIN PGP PUBLIC KEY BLOCK-----"
	endKeys        = "-----END PGP PUBLIC KEY BLOCK-----"
)

// A lineReader reads the lines of a text. Lines do not include white space at their end, as in signatures.
type lineReader struct{ rest []byte }

func (r *lineReader) next() (line []byte, ok bool) {
	if len(r.rest) == 0 {
		return nil, false
	}
	line, r.rest, _ = bytes.Cut(r.rest, []byte("\n"))
	return bytes.TrimRight(line, " \t\r"), true
}

// splitSigned splits a clear-signed text into its lines and its signature packets. Text before
// or after it is an error.
func splitSigned(text []byte) (lines [][]byte, signature []byte, err error) {
	r := &lineReader{text}
	if line, _ := r.next(); string(line) != beginSigned {
		return nil, nil, fmt.Errorf("%w: not a signed text", errFormat)
	}
	for {
		line, ok := r.next()
		if !ok {
			return nil, nil, fmt.Errorf("%w: no text", errFormat)
		}
		if len(line) == 0 {
			break
		}
		if !bytes.HasPrefix(line, []byte("Hash: ")) { // no other header is part of the signature's format
			return nil, nil, fmt.Errorf("%w: unknown header", errFormat)
		}
	}
	for {
		line, ok := r.next()
		switch {
		case !ok:
			return nil, nil, fmt.Errorf("%w: no signature", errFormat)
		case string(line) == beginSignature:
			signature, err := dearmor(r, endSignature)
			return lines, signature, err
		case bytes.HasPrefix(line, []byte("- ")):
			line = line[2:]
		case bytes.HasPrefix(line, []byte("-")):
			return nil, nil, fmt.Errorf("%w: a line begins with a dash that is not escaped", errFormat)
		}
		lines = append(lines, line)
	}
}

// dearmor decodes the rest of an armored block, up to the line end. Nothing may follow. The checksum of the
// block is ignored, as in RFC 9580.
func dearmor(r *lineReader, end string) ([]byte, error) {
	for {
		line, ok := r.next()
		if !ok {
			return nil, fmt.Errorf("%w: the block has no content", errFormat)
		}
		if len(line) == 0 {
			break
		}
		if !bytes.Contains(line, []byte(": ")) {
			return nil, fmt.Errorf("%w: invalid header of the block", errFormat)
		}
	}
	var encoded []byte
	for {
		line, ok := r.next()
		if !ok {
			return nil, fmt.Errorf("%w: the block has no end", errFormat)
		}
		if string(line) == end {
			break
		}
		if !bytes.HasPrefix(line, []byte("=")) {
			encoded = append(encoded, line...)
		}
	}
	if len(bytes.TrimSpace(r.rest)) > 0 {
		return nil, fmt.Errorf("%w: text after the block", errFormat)
	}
	content := make([]byte, base64.StdEncoding.DecodedLen(len(encoded)))
	n, err := base64.StdEncoding.Strict().Decode(content, encoded)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errFormat, err)
	}
	return content[:n], nil
}
