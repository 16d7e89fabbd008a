package openpgp

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rsa"
	_ "crypto/sha256" // for signatures
	_ "crypto/sha512" // likewise
	"encoding/binary"
	"math/big"
	"time"
)

// Types of signatures.
const (
	typeText         = 0x01 // of a text with canonical line ends
	typeSubkey       = 0x18 // of a subkey, by its primary key
	typePrimary      = 0x19 // of a primary key, by its subkey
	typeDirect       = 0x1f // of a primary key, by itself
	typeRevokeKey    = 0x20
	typeRevokeSubkey = 0x28
	typeRevokeUser   = 0x30
)

// Algorithms of public keys.
const (
	algorithmRSA     = 1
	algorithmRSASign = 3
	algorithmEdDSA   = 22 // Ed25519 in its older form
	algorithmEd25519 = 27
)

// certifications are the types of signatures of user ids.
var certifications = []byte{0x10, 0x11, 0x12, 0x13}

// hashes are the accepted hash algorithms. SHA-1 and MD5 are not among them.
var hashes = map[byte]crypto.Hash{8: crypto.SHA256, 9: crypto.SHA384, 10: crypto.SHA512}

// A signature is a signature packet of version 4.
type signature struct {
	kind, algorithm byte
	hash            crypto.Hash
	hashed          []byte // the part that is signed, with its trailer
	value           buffer

	created     time.Time
	lifetime    time.Duration // 0: it does not expire
	keyLifetime time.Duration // of the signed key, 0: it does not expire
	flags       byte          // of the signed key
	embedded    *signature    // the one by a subkey
}

const flagSign = 0x02

// parseSignature returns nil if the signature cannot be used: a version, an algorithm or a critical part
// that this package does not know.
func parseSignature(body []byte) *signature { return parseNested(body, true) }

func parseNested(body []byte, outer bool) *signature {
	b := &buffer{rest: body}
	version, kind, algorithm := b.number(1), b.number(1), b.number(1)
	hash, known := hashes[byte(b.number(1))]
	hashed := b.bytes(b.number(2))
	if b.failed || version != 4 || !known {
		return nil
	}
	s := &signature{kind: byte(kind), algorithm: byte(algorithm), hash: hash}
	end := len(body) - len(b.rest)
	s.hashed = append(append([]byte(nil), body[:end]...), 4, 0xff)
	s.hashed = binary.BigEndian.AppendUint32(s.hashed, uint32(end))
	unhashed := b.bytes(b.number(2))
	b.bytes(2) // the begin of the hash, which the value contains too
	if !s.parts(hashed, true, outer) || !s.parts(unhashed, false, outer) || b.failed || s.created.IsZero() {
		return nil
	}
	s.value = *b
	return s
}

// parts reads the parts of a signature. Only signed parts count, and a signature by a subkey, which is signed
// by itself. It returns false for parts that are invalid, or critical and unknown.
func (s *signature) parts(text []byte, signed, outer bool) bool {
	b := &buffer{rest: text}
	for len(b.rest) > 0 {
		part := buffer{rest: b.bytes(length(b, 255))}
		kind := part.number(1)
		if b.failed || part.failed {
			return false
		}
		critical := kind&0x80 != 0
		kind &= 0x7f
		if kind == 32 && outer {
			if s.embedded == nil {
				s.embedded = parseNested(part.rest, false)
			}
			continue
		}
		if !signed {
			continue
		}
		switch kind {
		case 2:
			s.created = time.Unix(int64(part.number(4)), 0)
		case 3:
			s.lifetime = time.Duration(part.number(4)) * time.Second
		case 9:
			s.keyLifetime = time.Duration(part.number(4)) * time.Second
		case 27:
			if len(part.rest) > 0 {
				s.flags = part.rest[0]
			}
		case 11, 16, 21, 22, 23, 24, 25, 30, 33, 34: // preferences, and the issuer
		default:
			if critical {
				return false
			}
		}
		if part.failed {
			return false
		}
	}
	return true
}

// valid reports whether the signature counts at a time. It is made by then, and has not expired.
func (s *signature) valid(now time.Time) bool {
	return !s.created.After(now) && (s.lifetime == 0 || now.Before(s.created.Add(s.lifetime)))
}

// expired reports whether the key of the signature has expired.
func (s *signature) expired(key *public, now time.Time) bool {
	return s.keyLifetime != 0 && !now.Before(key.created.Add(s.keyLifetime))
}

// kindOf returns the type of a signature of any version, or 0.
func kindOf(body []byte) byte {
	switch {
	case len(body) > 2 && body[0] == 3:
		return body[2]
	case len(body) > 1:
		return body[1]
	}
	return 0
}

// A public is a public key that can verify signatures: an RSA or Ed25519 key.
type public struct {
	body    []byte
	created time.Time
	rsa     *rsa.PublicKey
	ed25519 ed25519.PublicKey
}

// minRSA is the minimum size of RSA keys, in bits.
const minRSA = 2048

// parsePublic returns nil for a key of another version or algorithm.
func parsePublic(body []byte) *public {
	b := &buffer{rest: body}
	version := b.number(1)
	p := &public{body: body, created: time.Unix(int64(b.number(4)), 0)}
	algorithm := b.number(1)
	if version != 4 || len(body) > 0xffff {
		return nil
	}
	switch algorithm {
	case algorithmRSA, algorithmRSASign:
		n, e := new(big.Int).SetBytes(b.integer()), new(big.Int).SetBytes(b.integer())
		if n.BitLen() < minRSA || !e.IsInt64() || e.Int64() > 1<<31-1 {
			return nil
		}
		p.rsa = &rsa.PublicKey{N: n, E: int(e.Int64())}
	case algorithmEdDSA:
		const curve = "\x2b\x06\x01\x04\x01\xda\x47\x0f\x01" // Ed25519's object identifier
		name, point := b.bytes(b.number(1)), b.integer()
		if string(name) != curve || len(point) != 1+ed25519.PublicKeySize || point[0] != 0x40 {
			return nil
		}
		p.ed25519 = point[1:]
	case algorithmEd25519:
		p.ed25519 = b.bytes(ed25519.PublicKeySize)
	default:
		return nil
	}
	if b.failed || len(b.rest) > 0 {
		return nil
	}
	return p
}

// verify reports whether the key signed a text with a signature of one of the kinds.
func (p *public) verify(s *signature, text []byte, kinds ...byte) bool {
	if s == nil || s.created.Before(p.created) || !bytes.Contains(kinds, []byte{s.kind}) {
		return false
	}
	h := s.hash.New()
	h.Write(text)
	h.Write(s.hashed)
	sum, b := h.Sum(nil), s.value
	switch {
	case p.rsa != nil && (s.algorithm == algorithmRSA || s.algorithm == algorithmRSASign):
		value := padded(b.integer(), p.rsa.Size())
		return !b.failed && value != nil && rsa.VerifyPKCS1v15(p.rsa, s.hash, sum, value) == nil
	case p.ed25519 != nil && s.algorithm == algorithmEdDSA:
		r, t := padded(b.integer(), 32), padded(b.integer(), 32)
		return !b.failed && r != nil && t != nil && ed25519.Verify(p.ed25519, sum, append(r, t...))
	case p.ed25519 != nil && s.algorithm == algorithmEd25519:
		value := b.bytes(ed25519.SignatureSize)
		return !b.failed && ed25519.Verify(p.ed25519, sum, value)
	}
	return false
}

// padded returns a number with zeros in front, or nil if it is longer than size bytes.
func padded(number []byte, size int) []byte {
	if len(number) > size {
		return nil
	}
	return append(make([]byte, size-len(number), size), number...)
}
