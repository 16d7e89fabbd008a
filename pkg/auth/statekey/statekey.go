// Package statekey reads the keys that replicas of a server share.
package statekey

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	"mcp-bash/pkg/files/secretfile"
	"mcp-bash/pkg/text/ascii"
	"mcp-bash/pkg/text/weburl"
)

const (
	size    = 32 // bytes of a key
	maxKeys = 16
	maxFile = 16 << 10 // bytes
)

// Read returns the keys of a file. The first one seals. The error names the file, and contains nothing
// of its content.
func Read(path string) (keys [][]byte, err error) {
	text, _, err := secretfile.Rule{Max: maxFile, Secret: true}.Read(path)
	if err == nil {
		keys, err = parse(text)
	}
	if err != nil {
		return nil, fmt.Errorf("state key file %s: %w", path, err)
	}
	return keys, nil
}

func parse(content []byte) (keys [][]byte, err error) {
	if len(content) == size {
		return [][]byte{content}, nil
	}
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(string(content), "\ufeff")) {
		number++
		line = ascii.TrimLine(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key := decode(line)
		if len(key) != size {
			return nil, fmt.Errorf("line %d is not a key of %d bytes, in hexadecimal or base64", number, size)
		}
		if keys = append(keys, key); len(keys) > maxKeys {
			return nil, fmt.Errorf("there are more than %d keys", maxKeys)
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("there is no key; run `openssl rand -hex %d` to make one", size)
	}
	return keys, nil
}

// decode returns the bytes of a key, or nil.
func decode(text string) []byte {
	if len(text) == hex.EncodedLen(size) {
		if key, err := hex.DecodeString(text); err == nil {
			return key
		}
	}
	text = strings.TrimSuffix(text, "=")
	for _, form := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if key, err := form.Strict().DecodeString(text); err == nil {
			return key
		}
	}
	return nil
}

// CheckURL returns an error for an address that other replicas cannot use.
func CheckURL(text string) error {
	u, err := weburl.Parse(text)
	switch {
	case err == weburl.ErrPort:
		return fmt.Errorf("%q: %w", text, err)
	case err != nil || len(text) > maxURL:
	case u.User != nil || u.Path != "" || u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#"):
	default:
		return nil
	}
	return fmt.Errorf("%q is not a scheme, a host and a port, such as http://10.0.0.7:8000", text)
}

const maxURL = 1024 // bytes
