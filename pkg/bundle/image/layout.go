package image

import (
	"archive/tar"
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/gzip"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/files/boundedfile"
)

// A layout is an OCI layout. The same content gives the same bytes.
type layout struct {
	dir, tag                string // the directory of the layers, and the name of the image
	manifest, config, layer types.MediaType
	files                   []mcpb.File
	err                     error
}

// add adds a file unless the layout has it: platforms can share layers.
func (l *layout) add(f mcpb.File) {
	if !slices.ContainsFunc(l.files, func(other mcpb.File) bool { return other.Name == f.Name }) {
		l.files = append(l.files, f)
	}
}

const blobs = "blobs/sha256/"

func hashOf(h hash.Hash) v1.Hash {
	return v1.Hash{Algorithm: "sha256", Hex: fmt.Sprintf("%x", h.Sum(nil))}
}

// A layer is a layer of an image: its compressed archive, and the hash of the plain one.
type layer struct {
	v1.Descriptor
	diffID v1.Hash
	about  string
}

// addLayer adds a layer with the files that write writes.
func (l *layout) addLayer(about string, write func(*tar.Writer) error) (*layer, error) {
	f, err := os.CreateTemp(l.dir, "layer-")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	packed, plain := sha256.New(), sha256.New()
	z := gzip.NewWriter(io.MultiWriter(f, packed))
	t := tar.NewWriter(io.MultiWriter(z, plain))
	if err := write(t); err != nil {
		return nil, err
	}
	if err := errors.Join(t.Close(), z.Close()); err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	d := v1.Descriptor{MediaType: l.layer, Size: info.Size(), Digest: hashOf(packed)}
	l.add(mcpb.File{Name: blobs + d.Digest.Hex, Size: d.Size,
		Open: func() (io.ReadCloser, error) { return boundedfile.Open(f.Name()) }})
	return &layer{d, hashOf(plain), about}, nil
}

// put adds a document by its hash.
func (l *layout) put(value any, kind types.MediaType) v1.Descriptor {
	text := l.marshal(value)
	h := v1.Hash{Algorithm: "sha256", Hex: fmt.Sprintf("%x", sha256.Sum256(text))}
	l.add(mcpb.Bytes(blobs+h.Hex, false, text))
	return v1.Descriptor{MediaType: kind, Size: int64(len(text)), Digest: h}
}

func (l *layout) name(name string, value any) {
	l.add(mcpb.Bytes(name, false, append(l.marshal(value), '\n')))
}

func (l *layout) marshal(value any) []byte {
	text, err := json.Marshal(value) // fails for a time after the year 9999
	l.err = errors.Join(l.err, err)
	return text
}

// addImage adds the image for a platform. In Docker's format it also adds manifest.json for older versions. The image's
// annotations are the labels that the OCI specification defines.
func (l *layout) addImage(platform *v1.Platform, c v1.Config, created time.Time, layers ...*layer) v1.Descriptor {
	file := &v1.ConfigFile{OS: platform.OS, Architecture: platform.Architecture, Created: v1.Time{Time: created},
		Config: c, RootFS: v1.RootFS{Type: "layers"}}
	m := &v1.Manifest{SchemaVersion: 2, MediaType: l.manifest, Annotations: map[string]string{}}
	var names []string
	for _, one := range layers {
		file.RootFS.DiffIDs = append(file.RootFS.DiffIDs, one.diffID)
		file.History = append(file.History, v1.History{Created: file.Created, CreatedBy: one.about})
		m.Layers, names = append(m.Layers, one.Descriptor), append(names, blobs+one.Digest.Hex)
	}
	for name, value := range c.Labels {
		if strings.HasPrefix(name, "org.opencontainers.image.") {
			m.Annotations[name] = value
		}
	}
	m.Config = l.put(file, l.config)
	if l.manifest == types.DockerManifestSchema2 {
		l.name("manifest.json", []map[string]any{
			{"Config": blobs + m.Config.Digest.Hex, "RepoTags": []string{l.tag}, "Layers": names},
		})
	}
	d := l.put(m, l.manifest)
	d.Platform = platform
	return d
}

// finish adds the index of the layout. It returns the digest of the image, or of the index for several platforms.
func (l *layout) finish(images []v1.Descriptor) (digest v1.Hash, err error) {
	index := func(of ...v1.Descriptor) *v1.IndexManifest {
		return &v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: of}
	}
	top := images[0]
	if len(images) > 1 {
		top = l.put(index(images...), types.OCIImageIndex)
	}
	top.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": l.tag, "io.containerd.image.name": qualified(l.tag),
	}
	l.name("index.json", index(top))
	l.name("oci-layout", map[string]string{"imageLayoutVersion": "1.0.0"})
	return top.Digest, l.err
}

func qualified(tag string) string {
	host, _, found := strings.Cut(tag, "/")
	switch {
	case !found:
		return "docker.io/library/" + tag
	case !strings.ContainsAny(host, ".:") && host != "localhost":
		return "docker.io/" + tag
	}
	return tag
}

// Limits on reading: images of an index, bytes and entries of an archive, and zeros after its end.
const (
	maxImages  = 32
	maxArchive = 4 << 30
	maxEntries = 500_000
	maxPadding = 1 << 20
)

var (
	errChanged = errors.New("the project is not in one layer that all platforms share, as mcp-bundle image writes it")

	// ErrNoLayout means that there is no index.
	ErrNoLayout = errors.New("not an OCI layout")
)

// An Opener opens a file of an OCI layout.
type Opener func(name string) (io.ReadCloser, error)

// A reader reads a layout of untrusted content.
type reader struct {
	open      Opener
	images    []v1.Manifest
	platforms []string
	project   v1.Hash // the layer with the project
}

// Read returns the configuration of the image for linux/amd64, or else of the first one. The function each visits the
// project, the server's programs, and for each layer a file with its hash. A file can be opened during the call of
// visit.
func Read(open Opener) (config []byte, each func(visit func(mcpb.File) error) error, err error) {
	in, err := open("index.json")
	if err != nil {
		return nil, nil, ErrNoLayout
	}
	defer in.Close()
	r := &reader{open: open}
	var index v1.IndexManifest
	if err := json.NewDecoder(io.LimitReader(in, mcpb.MaxManifest)).Decode(&index); err != nil {
		return nil, nil, fmt.Errorf("index.json: %w", err)
	}
	if len(index.Manifests) == 1 && index.Manifests[0].MediaType.IsIndex() {
		top := index.Manifests[0].Digest
		index = v1.IndexManifest{}
		if _, err := r.document(top, &index); err != nil {
			return nil, nil, err
		}
	}
	if n := len(index.Manifests); n == 0 || n > maxImages {
		return nil, nil, fmt.Errorf("an index of %d images; it may have %d", n, maxImages)
	}
	for _, d := range index.Manifests {
		text, err := r.add(d.Digest)
		if err != nil {
			return nil, nil, err
		}
		if config == nil || r.platforms[len(r.platforms)-1] == "linux/amd64" { // the MCP registry reads this one
			config = text
		}
	}
	return config, r.each, nil
}

// add reads the manifest and the configuration of an image.
func (r *reader) add(digest v1.Hash) (config []byte, err error) {
	var m v1.Manifest
	var c v1.ConfigFile
	if _, err = r.document(digest, &m); err == nil {
		config, err = r.document(m.Config.Digest, &c)
	}
	if err == nil && !slices.Contains(c.Config.Env, "MCPBASH_PROJECT_ROOT="+imageProject) {
		err = fmt.Errorf("an image that does not serve the project at %s", imageProject)
	}
	r.images, r.platforms = append(r.images, m), append(r.platforms, c.OS+"/"+c.Architecture)
	return config, err
}

// document decodes a file by its hash, and returns its text.
func (r *reader) document(h v1.Hash, to any) (text []byte, err error) {
	err = r.blob(h, func(in io.Reader) (err error) {
		text, err = io.ReadAll(io.LimitReader(in, mcpb.MaxManifest))
		return errors.Join(err, json.Unmarshal(text, to))
	})
	return text, err
}

// blob reads a file by its hash, and verifies the hash.
func (r *reader) blob(h v1.Hash, read func(io.Reader) error) error {
	in, err := r.open(blobs + h.Hex)
	if err != nil {
		return fmt.Errorf("%s: %w", h, err)
	}
	defer in.Close()
	sum := sha256.New()
	all := io.TeeReader(in, sum)
	if err = read(all); err == nil {
		_, err = io.Copy(io.Discard, all)
	}
	if err == nil && hashOf(sum) != h {
		err = errors.New("its content has another hash")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", h, err)
	}
	return nil
}

func (r *reader) each(visit func(mcpb.File) error) error {
	for i, m := range r.images {
		for n, layer := range m.Layers {
			name := fmt.Sprintf("%s/layer-%d", r.platforms[i], n+1)
			if err := visit(mcpb.Bytes(name, false, []byte(layer.Digest.String()))); err != nil {
				return err
			}
			err := r.blob(layer.Digest, func(in io.Reader) error {
				return EachOfTar(in, func(h *tar.Header, f mcpb.File) error {
					return r.entry(i, layer.Digest, h, f, visit)
				})
			})
			if err != nil {
				return err
			}
		}
		if !slices.ContainsFunc(m.Layers, func(d v1.Descriptor) bool { return d.Digest == r.project }) {
			return errChanged
		}
	}
	return nil
}

// entry visits an entry of a layer of image i if it belongs to the project or to the server. It takes the project's
// files from the first image.
func (r *reader) entry(i int, layer v1.Hash, h *tar.Header, f mcpb.File, visit func(mcpb.File) error) error {
	f.Name = path.Clean("/" + h.Name)[1:]
	dir, base := path.Split(f.Name)
	isHiding := strings.HasPrefix(base, ".wh.") && strings.HasPrefix(Project, dir)
	isAbove := strings.HasPrefix(Project, f.Name+"/") && h.Typeflag != tar.TypeDir
	isProject := strings.HasPrefix(f.Name, Project)
	switch {
	case isHiding || isAbove || isProject && r.project != v1.Hash{} && r.project != layer:
		return errChanged
	case isProject:
		r.project = layer
		if h.Typeflag == tar.TypeDir || i > 0 {
			return nil
		}
		if h.Typeflag != tar.TypeReg {
			return fmt.Errorf("%q: not a regular file", h.Name)
		}
		return visit(f)
	case h.Typeflag == tar.TypeReg && strings.HasPrefix(f.Name, imageHome[1:]+"/bin/"):
		f.Name = r.platforms[i] + "/" + f.Name
		return visit(f)
	}
	return nil
}

// EachOfTar visits the entries of an archive, which may be compressed. Bytes after its end are an error, because
// programs read them differently.
func EachOfTar(in io.Reader, visit func(*tar.Header, mcpb.File) error) error {
	buffered := bufio.NewReader(in)
	in = buffered
	if head, _ := buffered.Peek(2); string(head) == "\x1f\x8b" {
		z, err := gzip.NewReader(in)
		if err != nil {
			return err
		}
		in = z
	}
	return eachEntry(io.LimitReader(in, maxArchive), visit)
}

func eachEntry(in io.Reader, visit func(*tar.Header, mcpb.File) error) error {
	t := tar.NewReader(in)
	for range maxEntries {
		h, err := t.Next()
		if err == io.EOF {
			rest, err := io.ReadAll(io.LimitReader(in, maxPadding))
			if len(rest) == maxPadding || strings.Trim(string(rest), "\x00") != "" {
				err = errors.New("bytes after the end of the archive")
			}
			return err
		}
		if err == nil {
			err = visit(h, mcpb.File{Name: h.Name, Exec: h.Mode&0o111 != 0, Size: h.Size,
				Open: func() (io.ReadCloser, error) { return io.NopCloser(t), nil }})
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("more than %d entries", maxEntries)
}

// InTar returns an opener for the files of an archive. It reads the headers of the archive once.
func InTar(archive *io.SectionReader) (Opener, error) {
	files := map[string]*io.SectionReader{}
	err := eachEntry(archive, func(h *tar.Header, _ mcpb.File) error {
		at, err := archive.Seek(0, io.SeekCurrent) // the content follows its header
		if files[h.Name] != nil {
			err = fmt.Errorf("%q: twice", h.Name)
		}
		if h.Typeflag == tar.TypeReg {
			files[h.Name] = io.NewSectionReader(archive, at, h.Size)
		}
		return err
	})
	if err != nil && files["index.json"] == nil {
		err = ErrNoLayout
	}
	return func(name string) (io.ReadCloser, error) {
		if f := files[name]; f != nil {
			return io.NopCloser(io.NewSectionReader(f, 0, f.Size())), nil
		}
		return nil, fs.ErrNotExist
	}, err
}
