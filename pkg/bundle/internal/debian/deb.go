package debian

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ulikunitz/xz"
)

const (
	maxControl  = 16 << 20 // of its control files together, in bytes
	maxUnpacked = 4 << 30  // of its files together, in bytes
	maxFiles    = 200_000
)

// A Deb is a package file that is being read.
type Deb struct {
	Control  []byte // the control file
	MD5Sums  []byte // the checksums of its files, or nil
	PostInst []byte // the script that dpkg runs after unpacking, or nil

	io.Reader // the content of the file that Next returned

	files *tar.Reader
	count int
	size  int64
}

const arHeader = 60

// readMember reads the header of the next member. The error is io.EOF after the last one.
func readMember(r io.Reader) (name string, size int64, err error) {
	header := make([]byte, arHeader)
	n, err := io.ReadFull(r, header)
	switch {
	case err == io.EOF && n == 0:
		return "", 0, io.EOF
	case err != nil:
		return "", 0, fmt.Errorf("ar header: %w", io.ErrUnexpectedEOF)
	case string(header[58:]) != "`\n":
		return "", 0, errors.New("ar header: no end mark")
	}
	name = strings.TrimSuffix(strings.TrimRight(string(header[:16]), " "), "/")
	size, err = strconv.ParseInt(strings.TrimRight(string(header[48:58]), " "), 10, 64)
	if err != nil || size < 0 || name == "" {
		return "", 0, errors.New("ar header: invalid name or size")
	}
	return name, size, nil
}

// OpenDeb reads the control files of a package. Next reads the other files.
func OpenDeb(in io.Reader) (*Deb, error) {
	r := bufio.NewReaderSize(in, 1<<16)
	magic := make([]byte, 8)
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != "!<arch>\n" {
		return nil, errors.New("not a Debian package: no ar archive")
	}
	d := &Deb{}
	for i := 0; ; i++ {
		name, size, err := readMember(r)
		switch {
		case err == io.EOF:
			return nil, errors.New("not a Debian package: no data.tar in it")
		case err != nil:
			return nil, err
		}
		content := io.LimitReader(r, size)
		switch {
		case i == 0:
			version, err := io.ReadAll(io.LimitReader(content, 16))
			if err != nil || name != "debian-binary" || !bytes.HasPrefix(version, []byte("2.")) {
				return nil, errors.New("not a Debian package of format 2")
			}
		case strings.HasPrefix(name, "control.tar") && d.Control == nil:
			if err := d.readControl(name, content); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		case strings.HasPrefix(name, "data.tar"):
			if d.Control == nil {
				return nil, errors.New("data.tar precedes control.tar")
			}
			unpacked, err := decompress(name, content)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			d.files = tar.NewReader(io.LimitReader(unpacked, maxUnpacked))
			d.Reader = d.files
			return d, nil
		}
		if _, err := io.Copy(io.Discard, content); err != nil {
			return nil, err
		}
		if size%2 == 1 {
			if _, err := r.Discard(1); err != nil {
				return nil, io.ErrUnexpectedEOF
			}
		}
	}
}

// decompress returns the content of a file by the ending of its name. Debian accepts no other
// compression for packages.
func decompress(name string, r io.Reader) (io.Reader, error) {
	switch path.Ext(name) {
	case ".tar":
		return r, nil
	case ".gz":
		return gzip.NewReader(r)
	case ".xz":
		return xz.NewReader(r)
	}
	return nil, fmt.Errorf("unknown compression %q; packages of Debian have xz or gzip", path.Ext(name))
}

func (d *Deb) readControl(name string, content io.Reader) error {
	unpacked, err := decompress(name, content)
	if err != nil {
		return err
	}
	files := map[string]*[]byte{"control": &d.Control, "md5sums": &d.MD5Sums, "postinst": &d.PostInst}
	for t := tar.NewReader(io.LimitReader(unpacked, maxControl)); ; {
		h, err := t.Next()
		switch {
		case err == io.EOF && d.Control == nil:
			return errors.New("no control file in it")
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case h.Typeflag != tar.TypeReg:
			continue
		}
		if to := files[path.Clean(h.Name)]; to != nil {
			if *to, err = io.ReadAll(t); err != nil {
				return err
			}
		}
	}
}

// Next returns the next file, whose content d reads. The error is io.EOF after the last one. The name has no slash at
// its beginning or end, and is "" for the root directory. The target of a hard link is such a name, too. Directories
// that Debian's systems replace by links, such as bin, are renamed to the targets of the links. The mode loses
// set-user-ID and set-group-ID.
func (d *Deb) Next() (*tar.Header, error) {
	h, err := d.files.Next()
	switch {
	case err != nil:
		return nil, err
	case d.count >= maxFiles:
		return nil, fmt.Errorf("more than %d files", maxFiles)
	}
	d.count++
	f := &tar.Header{
		Typeflag: h.Typeflag, Linkname: h.Linkname, Mode: h.Mode & 0o1777, Uid: h.Uid, Gid: h.Gid,
		ModTime: time.Unix(h.ModTime.Unix(), 0), Format: tar.FormatPAX,
	}
	if f.Name, err = localName(h.Name); err != nil {
		return nil, err
	}
	if d.size += h.Size; h.Size < 0 || d.size > maxUnpacked {
		return nil, fmt.Errorf("more than %d MB of files", maxUnpacked>>20)
	}
	f.Name = merged(f.Name, h.Typeflag == tar.TypeSymlink || h.Typeflag == tar.TypeDir)
	switch h.Typeflag {
	case tar.TypeReg:
		f.Size = h.Size
	case tar.TypeDir:
	case tar.TypeSymlink:
		if f.Linkname == "" {
			return nil, fmt.Errorf("%q: a link without target", h.Name)
		}
	case tar.TypeLink:
		if f.Linkname, err = localName(h.Linkname); err != nil {
			return nil, err
		}
		f.Linkname = merged(f.Linkname, false)
	default:
		return nil, fmt.Errorf("%q: not a file, directory or link", h.Name)
	}
	return f, nil
}

// localName returns a name of a tar archive without "./". A name that leads out of the archive is an error.
func localName(name string) (string, error) {
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." || strings.ContainsRune(part, 0) {
			return "", fmt.Errorf("%q: not a name below the root directory", name)
		}
	}
	return strings.TrimPrefix(path.Clean("/"+name), "/"), nil
}

// merged returns the name of a file in a system whose /bin, /sbin and /lib are links into /usr.
// The links themselves, and empty directories in their place, keep their names.
func merged(name string, isDirOrLink bool) string {
	top, rest, found := strings.Cut(name, "/")
	isAlias := slices.Contains([]string{"bin", "sbin", "lib", "lib64"}, top)
	if !isAlias || !found && isDirOrLink {
		return name
	}
	return strings.TrimSuffix("usr/"+top+"/"+rest, "/")
}
