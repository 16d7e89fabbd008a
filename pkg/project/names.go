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

// Title makes a title of a name: "my-cool_server" becomes "My Cool Server"
// (P-201).
func Title(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || unicode.IsSpace(r) })
	for i, w := range words {
		r, size := utf8.DecodeRuneInString(w)
		words[i] = string(unicode.ToUpper(r)) + w[size:]
	}
	return strings.Join(words, " ")
}

// FileName keeps of a name what a file name may hold (T-260).
func FileName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z', r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
}

// RequestKey names a request in files, by its JSON-RPC id as it stands in the
// message (P-301).
func RequestKey(id string) string {
	key := base64.RawURLEncoding.EncodeToString([]byte(id))
	if len(key) > 200 {
		sum := sha256.Sum256([]byte(id))
		return hex.EncodeToString(sum[:])
	}
	return key
}

// processTag is "<parent>.<process>.<random>", which makes a name unique and
// tells whose it is (P-300).
func processTag() string {
	return strconv.Itoa(os.Getppid()) + "." + strconv.Itoa(os.Getpid()) + "." + randomTag()
}

func randomTag() string {
	var b [6]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
