package secrets

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// CLI-1442: keys and tokens are found in any context, and similar texts are not.
func TestScan(t *testing.T) {
	wide := func(text string, order binary.AppendByteOrder, mark string) string {
		b := []byte(mark)
		for _, unit := range utf16.Encode([]rune(text)) {
			b = order.AppendUint16(b, unit)
		}
		return string(b)
	}
	body := strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEF\n", 3)
	pem := "-----BEGIN PRIVATE KEY-----\n" + body + "-----END PRIVATE KEY-----\n"
	web := "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMQ"
	const letters = "aB3dE5gH7jK9mN1pQ2sT4vW6yZ8bC0fG5iJ3lM7o"
	github := "ghp" + "_" + letters
	for _, tc := range [][2]string{
		{pem, "1 private-key"},
		{"\ufeff" + pem, "1 private-key"},
		{"x\n\n  \t" + pem, "3 private-key"},
		{strings.Repeat("x\n", 9000) + pem, "9001 private-key"},
		{strings.ReplaceAll(pem, "\n", "\r\n"), "1 private-key"},
		{wide(pem, binary.LittleEndian, "\xff\xfe"), "1 private-key"},
		{wide("\n"+pem, binary.BigEndian, "\xfe\xff"), "2 private-key"},
		{"-----BEGIN OPENSSH PRIVATE KEY-----", "1 private-key"},
		{"# -----BEGIN EC PRIVATE KEY-----", "1 private-key"},
		{"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\nlQOYBF", "1 private-key"},
		{"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: \"me\"\n", "1 private-key"},
		{"key = \"\"\"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: DES,AB\n\n" + body, "1 private-key"},
		{`{"a": 1,` + "\n" + `"private_key": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG\n"}`, "2 private-key"},
		{"KEY='-----BEGIN PRIVATE KEY-----\\n' +\n  'MIIEvQIBADANBgkqhkiG9w0B'", "1 private-key"},
		{"PuTTY-User-Key-File-3: ssh-ed25519\n", "1 putty-private-key"},
		{"x " + github + "\n" + web, "1 github-token; 2 json-web-token"},
		{`{"a":"x\n` + github + `"}`, "1 github-token"},
		{github + " " + github + "\n\n" + github, "1 github-token; 3 github-token"},
		{"AK" + "IAQ3EGRZTV5XKLM2NP", "1 aws-access-key"},
		{"token%20sk-" + letters, "1 openai-key"},
		{"https://hooks.slack.com/services/T0A1B2C3D/B0A1B2C3D/" + letters[:24], "1 slack-webhook"},
		// These are not keys.
		{"grep -q -- '-----BEGIN RSA PRIVATE KEY-----' \"$file\"", ""},
		{"-----BEGIN CERTIFICATE-----\n" + body, ""},
		{"-----BEGIN PUBLIC KEY-----\n" + body, ""},
		{"-----BEGIN PGP PUBLIC KEY BLOCK-----", ""},
		{"its first line, -----BEGIN PRIVATE KEY-----, says so", ""},
		{"AKIAIOSFODNN7EXAMPLE", ""},
		{"ghp_" + strings.Repeat("x", 36), ""},
		{"XAKIAQ3EGRZTV5XKLM2NP AKIAQ3EGRZTV5XKLM2NPQ", ""},
		{"task-" + letters, ""},
		{"eyJhbGciOiJIUzI1NiJ9.x", ""},
		{"eyJhbGciOiJIUzI1NiJ9.x" + web, "1 json-web-token"}, // the second part is not JSON, and a token begins in it
		{"", ""},
	} {
		var got []string
		for _, f := range Scan([]byte(tc[0])) {
			got = append(got, fmt.Sprint(f.Line, " ", f.Rule))
		}
		if strings.Join(got, "; ") != tc[1] {
			t.Errorf("%.80q: %q, want %q", tc[0], got, tc[1])
		}
	}
	if n := len(Scan([]byte(strings.Repeat(pem, 2*maxFindings)))); n != maxFindings {
		t.Errorf("%d findings", n)
	}
}

// Every form finds a token of its minimum length, and no shorter one.
func TestForms(t *testing.T) {
	for _, f := range forms() {
		if f.chars < 0 || f.minLength == 0 {
			t.Fatalf("tokens.txt: %+v", f)
		}
		var chars []byte
		for c := range 128 {
			if f.chars.has(byte(c)) && alnum.has(byte(c)) {
				chars = append(chars, byte(c))
			}
		}
		token := f.prefix
		for i := range f.minLength {
			token += string(chars[i*7%len(chars)])
		}
		if got := Scan([]byte("x " + token)); len(got) == 0 || !reflect.DeepEqual(got[0], Finding{1, f.rule}) {
			t.Errorf("%s: %v", token, got)
		}
		if len(token) < shortest {
			t.Errorf("%s has %d bytes", token, len(token))
		}
		if got := tokens("x " + token[:len(token)-1]); len(got) > 0 {
			t.Errorf("%s: %v", token[:len(token)-1], got)
		}
		// SDK-103: mcp_debug checks texts with such a run of characters.
		const run = 20
		parts := strings.FieldsFunc(token, func(r rune) bool { return !word.has(byte(r)) })
		if longest := slices.Max(lengths(parts)); longest < run {
			t.Errorf("%s: %d characters in a row", token, longest)
		}
	}
}

func lengths(words []string) (list []int) {
	for _, w := range words {
		list = append(list, len(w))
	}
	return list
}
