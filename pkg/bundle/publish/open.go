package publish

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/klauspost/compress/gzip"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/text/lazyregexp"
)

// Limits on an archive, which can come from somebody else. They are for its bytes without compression, for its files,
// and for the indexes that lead to an image.
const (
	maxArchive = 4 << 30
	maxFiles   = 50_000
	maxIndexes = 3
)

// The documents of packages: the one that describes the package, and the description of its project.
var (
	about = lazyregexp.New(`^(package/package\.json|[^/]+\.dist-info/METADATA)$`)
	meta  = lazyregexp.New(`^(package|[^/]+\.data/data/share/[^/]+)/[^/]+/server\.d/server\.meta\.json$`)
)

// A visitor is called for each file of an archive. It can read the file during the call.
type visitor func(name string, content io.Reader) error

// documents returns the documents of a package.
func documents(each func(visitor) error) (description, project []byte, err error) {
	err = each(func(name string, content io.Reader) (err error) {
		switch {
		case about.MatchString(name) && description != nil, meta.MatchString(name) && project != nil:
			err = fmt.Errorf("two files %s", name)
		case about.MatchString(name):
			description, err = limited(content)
		case meta.MatchString(name):
			project, err = limited(content)
		}
		return err
	})
	if err == nil && description == nil {
		err = errors.New("neither a package of npm nor a wheel")
	}
	return description, project, err
}

// limited reads a document.
func limited(content io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(content, mcpb.MaxManifest+1))
	if len(text) > mcpb.MaxManifest {
		err = fmt.Errorf("a document of more than %d bytes", mcpb.MaxManifest)
	}
	return text, err
}

// inTar visits the files of an archive, which is compressed in packages of npm.
func inTar(archive io.Reader, isPacked bool, visit visitor) error {
	if isPacked {
		z, err := gzip.NewReader(archive)
		if err != nil {
			return err
		}
		archive = z
	}
	t := tar.NewReader(io.LimitReader(archive, maxArchive))
	for range maxFiles {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			err = visit(h.Name, t)
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("more than %d files", maxFiles)
}

// inWheel visits the files of a ZIP archive.
func inWheel(f io.ReaderAt, size int64, visit visitor) error {
	a, err := mcpb.Read(f, size)
	if err != nil {
		return err
	}
	for i := range a.Entries {
		in, err := a.Entries[i].Open()
		if err == nil {
			err = errors.Join(visit(a.Entries[i].Name, in), in.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// configOf returns the configuration of the image in an OCI layout. Of several platforms it is the one that the
// registry reads.
func configOf(read func(name string) ([]byte, error)) ([]byte, error) {
	name := "index.json"
	for range maxIndexes {
		var doc struct {
			Manifests []v1.Descriptor
			Config    *v1.Descriptor
		}
		text, err := read(name)
		if err == nil {
			err = json.Unmarshal(text, &doc)
		}
		switch {
		case err != nil:
			return nil, err
		case doc.Config != nil:
			return read("blobs/sha256/" + doc.Config.Digest.Hex)
		case len(doc.Manifests) == 0:
			return nil, errors.New("an OCI layout without an image")
		}
		at := slices.IndexFunc(doc.Manifests, func(d v1.Descriptor) bool {
			return d.Platform != nil && d.Platform.OS == "linux" && d.Platform.Architecture == "amd64"
		})
		name = "blobs/sha256/" + doc.Manifests[max(at, 0)].Digest.Hex
	}
	return nil, fmt.Errorf("more than %d indexes in each other", maxIndexes)
}

// openImage returns the configuration of an image in a folder or an archive.
func openImage(file string, isDir bool) ([]byte, error) {
	if isDir {
		root, err := os.OpenRoot(file)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		return configOf(func(name string) ([]byte, error) {
			in, err := boundedfile.OpenIn(root, name)
			if err != nil {
				return nil, err
			}
			defer in.Close()
			return limited(in)
		})
	}
	return configOf(func(name string) (text []byte, err error) {
		f, err := boundedfile.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		err = inTar(f, false, func(found string, content io.Reader) (err error) {
			if found == name && text == nil {
				text, err = limited(content)
			}
			return err
		})
		if err == nil && text == nil {
			err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return text, err
	})
}

// Open opens another product than a bundle. It returns nil for a package that nobody starts by its name, such as the
// programs for one system.
func Open(file string) (p *Product, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	var description, project []byte
	read := readImage
	if ending := filepath.Ext(file); info.IsDir() || ending == ".tar" {
		description, err = openImage(file, info.IsDir())
	} else {
		var f *os.File
		if f, err = boundedfile.Open(file); err != nil {
			return nil, err
		}
		defer f.Close()
		read = readNPM
		each := func(visit visitor) error { return inTar(f, true, visit) }
		if ending == ".whl" {
			read = readWheel
			each = func(visit visitor) error { return inWheel(f, info.Size(), visit) }
		}
		description, project, err = documents(each)
	}
	if err == nil {
		p, err = read(description)
	}
	if p != nil {
		p.File, p.variables = file, variables(project)
	}
	return p, err
}
