// Package debian reads packages from an archive of Debian: its signed indexes, the dependencies of
// packages, and their files. It runs no program and no script of a package.
package debian

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/bundle/outdir"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"golang.org/x/sync/errgroup"
)

// Limits on downloads, in bytes.
const (
	maxRelease  = 4 << 20
	maxIndex    = 64 << 20
	maxPackages = 512 << 20 // of an index that is unpacked
	maxDeb      = 512 << 20
)

// An Archive is a suite of a mirror, such as trixie at https://deb.debian.org/debian.
type Archive struct {
	URL, Suite string
	Home       string // the address in inventories, even if URL is a mirror
}

// A Source reads archives.
type Source struct {
	// Get downloads a file of at most limit bytes. It calls progress with the number of bytes that have arrived.
	Get      func(ctx context.Context, url string, limit int64, progress func(done int64)) ([]byte, error)
	Cache    string // a private directory
	Keyring  []byte // public keys, in OpenPGP's binary or armored form
	Offline  bool   // use the files of the cache only
	Now      time.Time
	Archives []Archive
	Progress func(what string, done, total int64)
}

// ErrOffline means that a file is not in the cache.
var ErrOffline = errors.New("not in the cache, and not downloaded because of --offline")

// Index returns the packages of all archives for an architecture.
func (s *Source) Index(ctx context.Context, arch string) (*Index, error) {
	x := &Index{}
	for i := range s.Archives {
		a := &s.Archives[i]
		text, err := s.index(ctx, a, arch)
		if err == nil {
			err = x.add(text, a, arch)
		}
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", a.URL, a.Suite, err)
		}
	}
	x.sort()
	return x, nil
}

func (s *Source) index(ctx context.Context, a *Archive, arch string) (string, error) {
	dir := a.URL + "/dists/" + a.Suite + "/"
	signed, err := s.inRelease(ctx, dir+"InRelease")
	if err != nil {
		return "", err
	}
	text, err := verify(signed, s.Keyring, s.Now)
	if err != nil {
		return "", err
	}
	r, err := parseRelease(string(text))
	switch {
	case err != nil:
		return "", fmt.Errorf("InRelease: %w", err)
	case r.codename != a.Suite:
		return "", fmt.Errorf("InRelease: it is for %q, not for %q", r.codename, a.Suite)
	case r.date.After(s.Now.Add(24 * time.Hour)):
		return "", fmt.Errorf("InRelease: its date %s is in the future", r.date.Format(time.RFC3339))
	case !r.validUntil.IsZero() && r.validUntil.Before(s.Now):
		return "", fmt.Errorf("InRelease: it expired at %s; choose another mirror", r.validUntil.Format(time.RFC3339))
	}
	for _, name := range []string{"main/binary-" + arch + "/Packages.xz", "main/binary-" + arch + "/Packages.gz"} {
		f, ok := r.files[name]
		if !ok {
			continue
		}
		address := dir + name
		if r.byHash {
			address = dir + "main/binary-" + arch + "/by-hash/SHA256/" + f.sha256
		}
		if f.size > maxIndex {
			return "", fmt.Errorf("%s has %d bytes, more than %d", name, f.size, maxIndex)
		}
		file, err := s.fetch(ctx, address, f.sha256, f.size, func(done int64) {
			s.Progress("downloading the packages of "+a.Suite, done, f.size)
		})
		if err != nil {
			return "", err
		}
		defer file.Close()
		unpacked, err := decompress(name, Counted(file, func(done int64) {
			s.Progress("reading the packages of "+a.Suite, done, f.size)
		}))
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		var b strings.Builder
		b.Grow(int(min(r.files[strings.TrimSuffix(name, filepath.Ext(name))].size, maxPackages)))
		n, err := io.Copy(&b, io.LimitReader(unpacked, maxPackages+1))
		if err == nil && n > maxPackages {
			err = fmt.Errorf("more than %d bytes", maxPackages)
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		return b.String(), nil
	}
	return "", fmt.Errorf("InRelease: no packages for %s", arch)
}

// inRelease returns the signed index of an archive. With --offline it is the last one, from the cache.
func (s *Source) inRelease(ctx context.Context, address string) ([]byte, error) {
	sum := sha256.Sum256([]byte(address))
	file := filepath.Join(s.Cache, "InRelease-"+hex.EncodeToString(sum[:]))
	if s.Offline {
		text, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", address, ErrOffline)
		}
		return text, err
	}
	s.Progress("reading "+filepath.Base(filepath.Dir(address)), 0, 1)
	text, err := s.Get(ctx, address, maxRelease, func(int64) {})
	if err != nil {
		return nil, err
	}
	return text, outdir.Put(file, text, 0o600)
}

// fetch returns a file with a checksum, from the cache or the network.
func (s *Source) fetch(ctx context.Context, address, sum string, size int64, progress func(int64)) (*os.File, error) {
	file := filepath.Join(s.Cache, sum)
	if f, err := os.Open(file); err == nil {
		h := sha256.New()
		if _, err := io.Copy(h, io.LimitReader(f, size+1)); err == nil && hex.EncodeToString(h.Sum(nil)) == sum {
			_, err = f.Seek(0, io.SeekStart)
			return f, err
		}
		f.Close() // damaged
	}
	if s.Offline {
		return nil, fmt.Errorf("%s: %w", address, ErrOffline)
	}
	content, err := s.Get(ctx, address, size, progress)
	if err != nil {
		return nil, err
	}
	if got := sha256.Sum256(content); hex.EncodeToString(got[:]) != sum {
		return nil, fmt.Errorf("%s: its checksum is not the one of the signed index", address)
	}
	if err := outdir.Put(file, content, 0o600); err != nil {
		return nil, err
	}
	return os.Open(file)
}

// downloads is the number of packages that are downloaded at once.
const downloads = 4

// Fetch downloads packages into the cache.
func (s *Source) Fetch(ctx context.Context, packages []*Package) error {
	var total, done int64 // bytes
	for _, p := range packages {
		if p.Size > maxDeb {
			return fmt.Errorf("package %s has %d MB, more than %d", p.Name, p.Size>>20, maxDeb>>20)
		}
		total += p.Size
	}
	var mu sync.Mutex
	arrive := func(bytes int64) {
		mu.Lock()
		defer mu.Unlock()
		done += bytes
		s.Progress("downloading Debian packages", done, total)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(downloads)
	for _, p := range packages {
		group.Go(func() error {
			var arrived int64
			f, err := s.Open(ctx, p, func(n int64) {
				arrive(n - arrived)
				arrived = n
			})
			if err != nil {
				return err
			}
			arrive(p.Size - arrived)
			return f.Close()
		})
	}
	return group.Wait()
}

// Open opens the file of a package. It calls progress with the number of bytes that have arrived, if it downloads it.
func (s *Source) Open(ctx context.Context, p *Package, progress func(done int64)) (*os.File, error) {
	f, err := s.fetch(ctx, p.archive.URL+"/"+p.path(), p.SHA256, p.Size, progress)
	if err != nil {
		return nil, fmt.Errorf("package %s: %w", p.Name, err)
	}
	return f, nil
}

// Address returns the URL of the package's file, for inventories.
func (p *Package) Address() string { return p.archive.Home + "/" + p.path() }

func (p *Package) path() string { return (&url.URL{Path: p.Filename}).EscapedPath() }

// PURL returns the identifier of the package in inventories of software.
func (p *Package) PURL() string {
	version := strings.NewReplacer("+", "%2B", ":", "%3A").Replace(url.PathEscape(p.Version))
	return "pkg:deb/debian/" + url.PathEscape(p.Name) + "@" + version + "?arch=" + p.Architecture +
		"&distro=" + strings.TrimSuffix(p.archive.Suite, "-security")
}

// Counted returns a reader that calls progress with the number of bytes that were read.
func Counted(r io.Reader, progress func(done int64)) io.Reader {
	return &counted{Reader: r, progress: progress}
}

type counted struct {
	io.Reader
	progress func(done int64)
	done     int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.done += int64(n)
	c.progress(c.done)
	return n, err
}

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
