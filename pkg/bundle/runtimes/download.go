package runtimes

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/project"
)

// Limits on downloads, in bytes and time.
const (
	maxSums      = 1 << 20
	maxArchive   = 256 << 20
	downloadTime = 5 * time.Minute
)

// cache returns the directory of downloaded binaries of this version.
func (s *Source) cache() (string, error) {
	dir, err := project.CacheDir(s.Env)
	return filepath.Join(dir, cli.Version), err
}

// download returns a binary of the release from the cache or the network. A downloaded
// archive must match the release's SHA256SUMS.
func (s *Source) download(ctx context.Context, t Target) (*Binary, error) {
	cache, cacheErr := s.cache()
	file := ""
	if cacheErr == nil {
		file = filepath.Join(cache, t.String(), t.Binary())
		if b, err := cached(file, t); err == nil {
			return b, nil
		}
	}
	base := s.Env["MCPBASH_RELEASE_BASE_URL"]
	switch {
	case base == "":
		return nil, os.ErrNotExist
	case s.Offline:
		return nil, errors.New("not downloaded because of --offline")
	case cacheErr != nil:
		return nil, cacheErr
	}
	work := "downloading " + t.String()
	s.begin(work)
	ctx, cancel := context.WithTimeout(ctx, downloadTime)
	defer cancel()
	name := t.Archive(Tag)
	dir, err := url.JoinPath(base, Tag)
	if err != nil {
		return nil, fmt.Errorf("MCPBASH_RELEASE_BASE_URL: %w", err)
	}
	sums, err := s.Web.Get(ctx, dir+"/SHA256SUMS", maxSums)
	if err != nil {
		return nil, err
	}
	want := sumOf(string(sums), name)
	if want == "" {
		return nil, fmt.Errorf("SHA256SUMS missing entry for %s", name)
	}
	client := s.Web
	client.Progress = func(done, total int64) { s.show(work, s.nth*total+done, s.of*total) }
	archive, err := client.Get(ctx, dir+"/"+name, maxArchive)
	if err != nil {
		return nil, err
	}
	if got := sha256.Sum256(archive); hex.EncodeToString(got[:]) != want {
		return nil, fmt.Errorf("SHA256 checksum verification failed for: %s", name)
	}
	binary, err := extract(archive, "mcp-bash/bin/"+t.Binary(), t.OS == "windows")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := put(file, binary); err != nil {
		return nil, err
	}
	return cached(file, t)
}

// cached returns the binary in a file of the cache, if no other user could have put it
// there.
func cached(file string, t Target) (*Binary, error) {
	for _, path := range []string{filepath.Dir(filepath.Dir(file)), filepath.Dir(file), file} {
		info, err := os.Lstat(path)
		if err == nil {
			err = trust.CheckOwn(path, info)
		}
		if err != nil {
			return nil, err
		}
	}
	return check(file, t)
}

func sumOf(sums, name string) string {
	for line := range strings.Lines(sums) {
		if f := strings.Fields(line); len(f) == 2 && strings.TrimPrefix(f[1], "*") == name {
			return strings.ToLower(f[0])
		}
	}
	return ""
}

// extract returns one file of an archive. It ignores all others.
func extract(archive []byte, name string, isZip bool) ([]byte, error) {
	missing := fmt.Errorf("no %s in it", name)
	if isZip {
		z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
		if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
			return nil, err
		}
		for _, f := range z.File {
			if f.Name == name && f.Mode().IsRegular() {
				r, err := f.Open()
				if err != nil {
					return nil, err
				}
				defer r.Close()
				return readBinary(r)
			}
		}
		return nil, missing
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	for t := tar.NewReader(io.LimitReader(unzipped, 4*maxArchive)); ; {
		h, err := t.Next()
		switch {
		case err == io.EOF:
			return nil, missing
		case err != nil && !errors.Is(err, tar.ErrInsecurePath):
			return nil, err
		case h.Name == name && h.Typeflag == tar.TypeReg:
			return readBinary(t)
		}
	}
}

func readBinary(r io.Reader) ([]byte, error) {
	binary, err := io.ReadAll(io.LimitReader(r, maxBinary+1))
	if err == nil && len(binary) > maxBinary {
		err = fmt.Errorf("a program larger than %d bytes", maxBinary)
	}
	return binary, err
}

func put(file string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	dir, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer dir.Close()
	name := filepath.Base(file)
	project.Sweep(dir, name+".tmp-")
	if _, err := atomicfile.Write(dir, name, content); err != nil {
		return err
	}
	return dir.Chmod(name, 0o700)
}
