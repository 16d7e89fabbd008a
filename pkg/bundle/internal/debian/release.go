package debian

import (
	"bytes"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// DefaultKeyring contains the public keys that sign Debian 13 and its security updates. It consists of the
// three files debian-archive-trixie-*.gpg of Debian's package debian-archive-keyring.
//
//go:embed keyring.gpg
var DefaultKeyring []byte

// A release is the content of an InRelease file whose signature is valid.
type release struct {
	codename   string
	date       time.Time
	validUntil time.Time // zero if it does not expire
	byHash     bool      // files are also available by their checksums
	files      map[string]listed
}

type listed struct {
	size   int64
	sha256 string
}

// ErrSignature means that a file is not signed by a key of the keyring.
var ErrSignature = errors.New("the signature of the index cannot be verified")

// verify returns the text that one of the keys has signed. It returns nothing outside the
// signed part.
func verify(text, keyring []byte, now time.Time) ([]byte, error) {
	keys, err := readKeys(keyring)
	if err != nil {
		return nil, fmt.Errorf("keyring: %w", err)
	}
	block, rest := clearsign.Decode(text)
	if block == nil || !bytes.HasPrefix(text, []byte("-----BEGIN PGP SIGNED MESSAGE-----")) ||
		len(bytes.TrimSpace(rest)) > 0 {
		return nil, fmt.Errorf("%w: not a signed text", ErrSignature)
	}
	config := &packet.Config{Time: func() time.Time { return now }}
	_, err = openpgp.CheckDetachedSignature(keys, bytes.NewReader(block.Bytes), block.ArmoredSignature.Body, config)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return block.Plaintext, nil
}

func readKeys(keyring []byte) (openpgp.EntityList, error) {
	if bytes.HasPrefix(bytes.TrimSpace(keyring), []byte("-----BEGIN")) {
		block, err := armor.Decode(bytes.NewReader(keyring))
		if err != nil {
			return nil, err
		}
		if keyring, err = io.ReadAll(block.Body); err != nil {
			return nil, err
		}
	}
	keys, err := openpgp.ReadKeyRing(bytes.NewReader(keyring))
	if err == nil && len(keys) == 0 {
		err = errors.New("no keys")
	}
	return keys, err
}

func parseRelease(text string) (*release, error) {
	var r *release
	err := paragraphs(text, func(f map[string]string) error {
		if r != nil {
			return errors.New("more than one paragraph")
		}
		r = &release{codename: f["Codename"], byHash: f["Acquire-By-Hash"] == "yes", files: map[string]listed{}}
		var errDate, errUntil error
		r.date, errDate = parseTime(f["Date"])
		r.validUntil, errUntil = parseTime(f["Valid-Until"])
		return errors.Join(errDate, errUntil, r.addFiles(f["SHA256"]))
	})
	switch {
	case err != nil:
		return nil, err
	case r == nil || r.codename == "" || r.date.IsZero() || len(r.files) == 0:
		return nil, errors.New("no Codename, Date or SHA256 in it")
	}
	return r, nil
}

// parseTime parses the time of a field. Without the field, the time is zero.
func parseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC1123, text)
}

func (r *release) addFiles(lines string) error {
	for line := range strings.SplitSeq(lines, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) != 3 || !isSHA256(f[0]) {
			return fmt.Errorf("%q: not a checksum, a size and a name", line)
		}
		size, err := strconv.ParseInt(f[1], 10, 64)
		if err != nil || size < 0 {
			return fmt.Errorf("%q: invalid size", line)
		}
		r.files[f[2]] = listed{size, f[0]}
	}
	return nil
}

func isSHA256(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == 32 && strings.ToLower(text) == text
}
