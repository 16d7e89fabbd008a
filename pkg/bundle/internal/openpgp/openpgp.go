// Package openpgp verifies clear-signed texts with a trusted keyring (RFC 9580), as archives of Debian use them.
// It knows keys and signatures of version 4 with RSA or Ed25519, and SHA-2. It does not know
// encryption, secret keys or trust between keys.
package openpgp

import (
	"bytes"
	"errors"
	"fmt"
	"time"
)

// Errors of this package.
var (
	errFormat   = errors.New("invalid OpenPGP format")
	errUnsigned = errors.New("no valid signature of a key in the keyring")
)

// A Keyring contains trusted public keys.
type Keyring []*entity

// An entity is a primary key, its user ids and its subkeys.
type entity struct {
	key     *public
	itself  part
	users   []*part
	subkeys []*part
}

// A part of an entity is what its signatures sign.
type part struct {
	key        *public // of a subkey
	text       []byte
	kinds      []byte // the types of its signatures
	signatures []*signature
	revoked    bool
}

// ReadKeyring reads keys in OpenPGP's binary or armored form. It leaves out keys that it cannot use. A
// keyring without usable keys is an error.
func ReadKeyring(text []byte) (Keyring, error) {
	text = bytes.TrimLeft(text, " \t\r\n")
	if bytes.HasPrefix(text, []byte("-----BEGIN")) {
		r := &lineReader{text}
		if line, _ := r.next(); string(line) != beginKeys {
			return nil, fmt.Errorf("%w: not public keys", errFormat)
		}
		var err error
		if text, err = dearmor(r, endKeys); err != nil {
			return nil, err
		}
	}
	list, err := packets(text)
	if err != nil {
		return nil, err
	}
	var keys Keyring
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].tag != tagKey {
			n++
		}
		if list[0].tag == tagKey {
			if e := newEntity(list[:n]); e != nil {
				keys = append(keys, e)
			}
		}
		list = list[n:]
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%w: no keys that can be used", errFormat)
	}
	return keys, nil
}

// newEntity returns nil for a key that cannot be used.
func newEntity(list []frame) *entity {
	e := &entity{key: parsePublic(list[0].body)}
	if e.key == nil {
		return nil
	}
	text := appendKey(nil, e.key.body)
	e.itself = part{text: text, kinds: []byte{typeDirect}}
	at := &e.itself
	for _, p := range list[1:] {
		switch p.tag {
		case tagSignature:
			at.add(p.body)
		case tagUser:
			at = &part{text: appendUser(bytes.Clone(text), p.body), kinds: certifications}
			e.users = append(e.users, at)
		case tagSubkey:
			at = &part{text: appendKey(bytes.Clone(text), p.body), kinds: []byte{typeSubkey}, key: parsePublic(p.body)}
			if at.key != nil {
				e.subkeys = append(e.subkeys, at)
			}
		default:
			at = new(part) // its signatures are ignored
		}
	}
	return e
}

// add adds a signature. A revocation counts even if it cannot be verified, because the keyring is trusted.
func (p *part) add(body []byte) {
	switch kindOf(body) {
	case typeRevokeKey, typeRevokeSubkey, typeRevokeUser:
		p.revoked = true
		return
	}
	if s := parseSignature(body); s != nil {
		p.signatures = append(p.signatures, s)
	}
}

// newest returns the newest valid signature that a key made of the part, or nil.
func (p *part) newest(by *public, now time.Time) (newest *signature) {
	for _, s := range p.signatures {
		if (newest == nil || s.created.After(newest.created)) && s.valid(now) && by.verify(s, p.text, p.kinds...) {
			newest = s
		}
	}
	return newest
}

// signers returns the keys of the entity that may sign texts at a time.
func (e *entity) signers(now time.Time) (keys []*public) {
	if e.itself.revoked {
		return nil
	}
	self := e.itself.newest(e.key, now)
	for _, u := range e.users {
		if s := u.newest(e.key, now); !u.revoked && s != nil && (self == nil || s.created.After(self.created)) {
			self = s
		}
	}
	if self == nil || self.expired(e.key, now) {
		return nil
	}
	if self.flags&flagSign != 0 {
		keys = append(keys, e.key)
	}
	for _, sub := range e.subkeys {
		s := sub.newest(e.key, now)
		// The subkey signs too, so nobody can add the subkey of another person to their own key.
		if !sub.revoked && s != nil && s.flags&flagSign != 0 && !s.expired(sub.key, now) && s.embedded != nil &&
			s.embedded.valid(now) && sub.key.verify(s.embedded, sub.text, typePrimary) {
			keys = append(keys, sub.key)
		}
	}
	return keys
}

// Verify returns the text that a key of the keyring signed, if one of its signatures is valid at a time. The
// result contains exactly the signed lines, without white space at their end.
func (k Keyring) Verify(text []byte, now time.Time) ([]byte, error) {
	lines, block, err := splitSigned(text)
	if err != nil {
		return nil, err
	}
	list, err := packets(block)
	if err != nil {
		return nil, err
	}
	var keys []*public
	for _, e := range k {
		keys = append(keys, e.signers(now)...)
	}
	signed := bytes.Join(lines, []byte("\r\n"))
	if len(list) > maxSignatures {
		return nil, fmt.Errorf("%w: more than %d signatures", errFormat, maxSignatures)
	}
	for _, p := range list {
		if p.tag != tagSignature {
			return nil, fmt.Errorf("%w: not a signature", errFormat)
		}
		s := parseSignature(p.body)
		if s == nil || !s.valid(now) {
			continue
		}
		for _, key := range keys {
			if key.verify(s, signed, typeText) {
				return append(bytes.Join(lines, []byte("\n")), '\n'), nil
			}
		}
	}
	return nil, errUnsigned
}

// maxSignatures limits the work for one text.
const maxSignatures = 64
