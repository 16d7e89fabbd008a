package project

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Title returns a title for a name, such as "My Cool Server" for "my-cool_server" (P-201).
func Title(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || unicode.IsSpace(r) })
	for i, w := range words {
		r, size := utf8.DecodeRuneInString(w)
		words[i] = string(unicode.ToUpper(r)) + w[size:]
	}
	return strings.Join(words, " ")
}

// FileName replaces characters of a name that file names should not have (T-260).
func FileName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z', r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
}

// RequestKey returns the name of a request in files. It depends on the raw text of its JSON-RPC id (P-301).
func RequestKey(id string) string {
	key := base64.RawURLEncoding.EncodeToString([]byte(id))
	if len(key) > 200 {
		sum := sha256.Sum256([]byte(id))
		return hex.EncodeToString(sum[:])
	}
	return key
}

// processTag returns "<parent>.<process>.<random>", which makes a name unique and identifies its process (P-300).
func processTag() string {
	return strconv.Itoa(os.Getppid()) + "." + strconv.Itoa(os.Getpid()) + "." + randomTag()
}

func randomTag() string {
	var b [6]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
