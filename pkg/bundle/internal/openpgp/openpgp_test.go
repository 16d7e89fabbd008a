package openpgp

import (
	"bytes"
	"crypto"
	_ "crypto/sha1" // for signatures that are refused
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// now is the time of all tests. Keys are an hour old.
var now = time.Now().Truncate(time.Second)

func config(age time.Duration, change func(*packet.Config)) *packet.Config {
	c := &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA, DefaultHash: crypto.SHA256,
		Time: func() time.Time { return now.Add(-age) }}
	if change != nil {
		change(c)
	}
	return c
}

func newKey(t testing.TB, c *packet.Config) *openpgp.Entity {
	t.Helper()
	e, err := openpgp.NewEntity("Archive", "", "archive@example.org", c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func publicOf(t testing.TB, e *openpgp.Entity) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := e.Serialize(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func sign(t testing.TB, key *packet.PrivateKey, c *packet.Config, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := clearsign.Encode(&b, key, c)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// library verifies a text with go-crypto. One of the signatures must be valid.
func library(text, keyring []byte) bool {
	keys, err := openpgp.ReadKeyRing(bytes.NewReader(keyring))
	block, rest := clearsign.Decode(text)
	if err != nil || block == nil || len(bytes.TrimSpace(rest)) > 0 {
		return false
	}
	packed, err := io.ReadAll(block.ArmoredSignature.Body)
	if err != nil {
		return false
	}
	list, err := packets(packed)
	return err == nil && slices.ContainsFunc(list, func(p frame) bool {
		one := binary.BigEndian.AppendUint32([]byte{0xc0 | byte(p.tag), 0xff}, uint32(len(p.body)))
		one = append(one, p.body...)
		_, err := openpgp.CheckDetachedSignature(keys, bytes.NewReader(block.Bytes), bytes.NewReader(one), config(0, nil))
		return err == nil
	})
}

func verify(text, keyring []byte) ([]byte, error) {
	keys, err := ReadKeyring(keyring)
	if err != nil {
		return nil, err
	}
	return keys.Verify(text, now)
}

const content = "Origin: Test\n- dash\n\n--- three\nspaces   \t\nlast\n"

// canonical has one more empty line, which the library adds to what it signs.
const canonical = "Origin: Test\n- dash\n\n--- three\nspaces\nlast\n\n"

// H-605. The library agrees about each signature. It also accepts some that this package refuses.
func TestVerify(t *testing.T) {
	const hour = time.Hour
	old := func(seconds uint32) *packet.Config {
		return config(hour, func(c *packet.Config) { c.KeyLifetimeSecs = seconds })
	}
	rsa := config(hour, func(c *packet.Config) { c.Algorithm, c.RSABits = packet.PubKeyAlgoRSA, 2048 })
	small := config(hour, func(c *packet.Config) { c.Algorithm, c.RSABits = packet.PubKeyAlgoRSA, 1024 })
	for name, tc := range map[string]struct {
		make   func(t *testing.T) (keyring, text []byte)
		want   error
		looser bool // the library accepts it
	}{
		"EdDSA": {make: func(t *testing.T) ([]byte, []byte) {
			e := newKey(t, config(hour, nil))
			return publicOf(t, e), sign(t, e.PrivateKey, config(0, nil), content)
		}},
		"RSA and SHA-512": {make: func(t *testing.T) ([]byte, []byte) {
			e := newKey(t, rsa)
			return publicOf(t, e), sign(t, e.PrivateKey, config(0, func(c *packet.Config) { c.DefaultHash = crypto.SHA512 }),
				content)
		}},
		"Ed25519": {make: func(t *testing.T) ([]byte, []byte) {
			e := newKey(t, config(hour, func(c *packet.Config) { c.Algorithm = packet.PubKeyAlgoEd25519 }))
			return publicOf(t, e), sign(t, e.PrivateKey, config(0, nil), content)
		}},
		"short RSA key": {make: func(t *testing.T) ([]byte, []byte) {
			e := newKey(t, small)
			return publicOf(t, e), sign(t, e.PrivateKey, config(0, nil), content)
		}, want: errFormat, looser: true},
		"subkey": {make: func(t *testing.T) ([]byte, []byte) {
			e := newKey(t, config(hour, nil))
			if err := e.AddSigningSubkey(config(hour, nil)); err != nil {
				t.Fatal(err)
			}
			return publicOf(t, e), sign(t, e.Subkeys[1].PrivateKey, config(0, nil), content)
		}},
		"subkey that has not signed": {make: func(t *testing.T) ([]byte, []byte) {
			e := newKey(t, config(hour, nil))
			if err := e.AddSigningSubkey(config(hour, nil)); err != nil {
				t.Fatal(err)
			}
			sub := e.Subkeys[1]
			sub.Sig.EmbeddedSignature = nil
			if err := sub.Sig.SignKey(sub.PublicKey, e.PrivateKey, config(hour, nil)); err != nil {
				t.Fatal(err)
			}
			return publicOf(t, e), sign(t, sub.PrivateKey, config(0, nil), content)
		}, want: errUnsigned},
		"subkey for encryption": {make: func(t *testing.T) ([]byte, []byte) {
			e := newKey(t, config(hour, nil))
			if err := e.AddSigningSubkey(config(hour, nil)); err != nil {
				t.Fatal(err)
			}
			sub := e.Subkeys[1]
			sub.Sig.FlagSign, sub.Sig.FlagEncryptStorage = false, true
			if err := sub.Sig.SignKey(sub.PublicKey, e.PrivateKey, config(hour, nil)); err != nil {
				t.Fatal(err)
			}
			return publicOf(t, e), sign(t, sub.PrivateKey, config(0, nil), content)
		}, want: errUnsigned},
		"revoked subkey": {make: func(t *testing.T) ([]byte, []byte) {
			e := newKey(t, config(hour, nil))
			if err := e.AddSigningSubkey(config(hour, nil)); err != nil {
				t.Fatal(err)
			}
			if err := e.RevokeSubkey(&e.Subkeys[1], packet.NoReason, "", config(hour/2, nil)); err != nil {
				t.Fatal(err)
			}
			return publicOf(t, e), sign(t, e.Subkeys[1].PrivateKey, config(0, nil), content)
		}, want: errUnsigned},
		"revoked key": {make: func(t *testing.T) ([]byte, []byte) {
			e := newKey(t, config(hour, nil))
			if err := e.RevokeKey(packet.NoReason, "", config(hour/2, nil)); err != nil {
				t.Fatal(err)
			}
			return publicOf(t, e), sign(t, e.PrivateKey, config(0, nil), content)
		}, want: errUnsigned},
		"expired key": {make: func(t *testing.T) ([]byte, []byte) {
			e := newKey(t, old(1800))
			return publicOf(t, e), sign(t, e.PrivateKey, config(hour, nil), content)
		}, want: errUnsigned},
		"key that will expire": {make: func(t *testing.T) ([]byte, []byte) {
			e := newKey(t, old(7200))
			return publicOf(t, e), sign(t, e.PrivateKey, config(0, nil), content)
		}},
		"expired signature": {make: func(t *testing.T) ([]byte, []byte) {
			e := newKey(t, config(hour, nil))
			return publicOf(t, e), sign(t, e.PrivateKey, config(hour, func(c *packet.Config) { c.SigLifetimeSecs = 60 }),
				content)
		}, want: errUnsigned},
		"signature of tomorrow": {make: func(t *testing.T) ([]byte, []byte) {
			e := newKey(t, config(hour, nil))
			return publicOf(t, e), sign(t, e.PrivateKey, config(-24*hour, nil), content)
		}, want: errUnsigned},
		"another key": {make: func(t *testing.T) ([]byte, []byte) {
			e := newKey(t, config(hour, nil))
			return publicOf(t, newKey(t, config(hour, nil))), sign(t, e.PrivateKey, config(0, nil), content)
		}, want: errUnsigned},
		"changed text": {make: func(t *testing.T) ([]byte, []byte) {
			e := newKey(t, config(hour, nil))
			text := sign(t, e.PrivateKey, config(0, nil), content)
			return publicOf(t, e), bytes.Replace(text, []byte("Test"), []byte("Tesu"), 1)
		}, want: errUnsigned},
		"critical notation": {make: func(t *testing.T) ([]byte, []byte) {
			e := newKey(t, config(hour, nil))
			return publicOf(t, e), sign(t, e.PrivateKey, config(0, func(c *packet.Config) {
				c.SignatureNotations = []*packet.Notation{{Name: "a@example.org", Value: []byte("b"), IsCritical: true,
					IsHumanReadable: true}}
			}), content)
		}, want: errUnsigned},
		"signature of a file": {make: func(t *testing.T) ([]byte, []byte) {
			e := newKey(t, config(hour, nil))
			text := sign(t, e.PrivateKey, config(0, nil), content)
			var b bytes.Buffer
			w, err := armor.Encode(&b, "PGP SIGNATURE", nil)
			if err != nil {
				t.Fatal(err)
			}
			signed := strings.ReplaceAll(strings.TrimSuffix(canonical, "\n"), "\n", "\r\n")
			if err := openpgp.DetachSign(w, e, strings.NewReader(signed), config(0, nil)); err != nil {
				t.Fatal(err)
			}
			w.Close()
			before, _, _ := bytes.Cut(text, []byte(beginSignature))
			return publicOf(t, e), append(before, b.Bytes()...)
		}, want: errUnsigned, looser: true},
		"no keys": {make: func(t *testing.T) ([]byte, []byte) { return nil, nil }, want: errFormat},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keyring, text := tc.make(t)
			signed, err := verify(text, keyring)
			if !errors.Is(err, tc.want) || err == nil && string(signed) != canonical {
				t.Errorf("%q, %v, want %v", signed, err, tc.want)
			}
			if ok := library(text, keyring); ok != (err == nil || tc.looser) {
				t.Errorf("the library: %t", ok)
			}
		})
	}
}

// A text is refused unless all of it is signed.
func TestFormat(t *testing.T) {
	e := newKey(t, config(time.Hour, nil))
	keyring := publicOf(t, e)
	good := string(sign(t, e.PrivateKey, config(0, nil), content))
	if _, err := verify([]byte(good), keyring); err != nil {
		t.Fatal(err)
	}
	if _, err := verify([]byte(strings.ReplaceAll(good, "\n", "\r\n")), keyring); err != nil {
		t.Errorf("with other line ends: %v", err)
	}
	for name, text := range map[string]string{
		"empty":                "",
		"text in front":        "x\n" + good,
		"empty line in front":  "\n" + good,
		"text behind":          good + "\nx\n",
		"another header":       strings.Replace(good, "\n\n", "\nComment: x\n\n", 1),
		"no empty line":        strings.Replace(good, "\n\n", "\n", 1),
		"dash":                 strings.Replace(good, "- --- three", "--- three", 1),
		"no signature":         good[:strings.Index(good, beginSignature)],
		"no end":               strings.Replace(good, endSignature, "", 1),
		"empty signature":      good[:strings.Index(good, beginSignature)] + beginSignature + "\n\n" + endSignature + "\n",
		"not in base 64":       strings.Replace(good, "\n\nw", "\n\n!", 1),
		"another block":        good + good,
		"too many signatures":  repeated(t, good, maxSignatures+1),
		"a key as a signature": good[:strings.Index(good, beginSignature)] + armored(t, "PGP SIGNATURE", keyring),
	} {
		if signed, err := verify([]byte(text), keyring); err == nil {
			t.Errorf("%s: %q", name, signed)
		}
	}
	if _, err := verify([]byte(repeated(t, good, maxSignatures)), keyring); err != nil {
		t.Errorf("%d signatures: %v", maxSignatures, err)
	}
	if _, err := verify([]byte(good), []byte("\n"+armored(t, "PGP PUBLIC KEY BLOCK", keyring))); err != nil {
		t.Errorf("armored keys: %v", err)
	}
	for name, keys := range map[string]string{
		"a signature": good[strings.Index(good, beginSignature):], "cut": string(keyring[:len(keyring)-1]), "text": "x",
	} {
		if _, err := verify([]byte(good), []byte(keys)); !errors.Is(err, errFormat) {
			t.Errorf("a keyring that is %s: %v", name, err)
		}
	}
}

func armored(t testing.TB, kind string, content []byte) string {
	t.Helper()
	var b bytes.Buffer
	w, err := armor.Encode(&b, kind, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(content)
	w.Close()
	return b.String() + "\n"
}

// repeated returns a signed text with its signature n times.
func repeated(t testing.TB, text string, n int) string {
	t.Helper()
	block, _ := clearsign.Decode([]byte(text))
	packed, err := io.ReadAll(block.ArmoredSignature.Body)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(text, beginSignature)
	return before + armored(t, "PGP SIGNATURE", bytes.Repeat(packed, n))
}

// A text that this package accepts is accepted by the library too, with the same content.
func FuzzVerify(f *testing.F) {
	e := newKey(f, config(time.Hour, nil))
	if err := e.AddSigningSubkey(config(time.Hour, nil)); err != nil {
		f.Fatal(err)
	}
	keyring := publicOf(f, e)
	f.Add(sign(f, e.PrivateKey, config(0, nil), content), keyring)
	f.Add(sign(f, e.Subkeys[1].PrivateKey, config(0, nil), "Codename: trixie\n"), keyring)
	f.Add([]byte(armored(f, "PGP SIGNATURE", keyring)), []byte(armored(f, "PGP PUBLIC KEY BLOCK", keyring)))
	f.Fuzz(func(t *testing.T, text, keys []byte) {
		if _, err := ReadKeyring(keys); err != nil && !errors.Is(err, errFormat) {
			t.Error(err)
		}
		signed, err := verify(text, keyring) // a keyring is trusted, so it does not change
		if err != nil {
			return
		}
		block, _ := clearsign.Decode(text)
		if !library(text, keyring) || string(signed) != strings.ReplaceAll(string(block.Bytes), "\r\n", "\n")+"\n" {
			t.Errorf("%q: %q", text, signed)
		}
	})
}
