package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/gzip"
)

// A layout is a directory with an OCI layout. The same content gives the same bytes.
type layout struct {
	dir                     string
	manifest, config, layer types.MediaType
}

// newLayout creates a layout with the media types of OCI or of Docker. Only images of Docker have a health check.
func newLayout(dir, format string) (*layout, error) {
	l := &layout{dir, types.OCIManifestSchema1, types.OCIConfigJSON, types.OCILayer}
	if format == Docker {
		l = &layout{dir, types.DockerManifestSchema2, types.DockerConfigJSON, types.DockerLayer}
	}
	return l, os.MkdirAll(filepath.Join(dir, blobs), 0o755)
}

const blobs = "blobs/sha256/"

func hashOf(h hash.Hash) v1.Hash {
	return v1.Hash{Algorithm: "sha256", Hex: fmt.Sprintf("%x", h.Sum(nil))}
}

func (l *layout) blob(h v1.Hash) string { return filepath.Join(l.dir, blobs, h.Hex) }

// A layer is a layer of an image: its compressed archive, and the hash of the plain one.
type layer struct {
	v1.Descriptor
	diffID v1.Hash
	about  string
}

// addLayer adds a layer with the files that write writes.
func (l *layout) addLayer(about string, write func(*tar.Writer) error) (*layer, error) {
	f, err := os.CreateTemp(filepath.Join(l.dir, blobs), "layer-")
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
	return &layer{d, hashOf(plain), about}, errors.Join(f.Close(), os.Rename(f.Name(), l.blob(d.Digest)))
}

// put adds a document.
func (l *layout) put(value any, kind types.MediaType) (v1.Descriptor, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return v1.Descriptor{}, err
	}
	h, size, err := v1.SHA256(bytes.NewReader(text))
	return v1.Descriptor{MediaType: kind, Size: size, Digest: h}, errors.Join(err, os.WriteFile(l.blob(h), text, 0o644))
}

// addImage adds the image for a platform. Its annotations are the labels that the OCI specification defines.
func (l *layout) addImage(platform *v1.Platform, c v1.Config, created time.Time,
	layers ...*layer) (v1.Descriptor, error) {
	file := &v1.ConfigFile{OS: platform.OS, Architecture: platform.Architecture, Created: v1.Time{Time: created},
		Config: c, RootFS: v1.RootFS{Type: "layers"}}
	m := &v1.Manifest{SchemaVersion: 2, MediaType: l.manifest, Annotations: map[string]string{}}
	for _, one := range layers {
		file.RootFS.DiffIDs = append(file.RootFS.DiffIDs, one.diffID)
		file.History = append(file.History, v1.History{Created: file.Created, CreatedBy: one.about})
		m.Layers = append(m.Layers, one.Descriptor)
	}
	for name, value := range c.Labels {
		if strings.HasPrefix(name, "org.opencontainers.image.") {
			m.Annotations[name] = value
		}
	}
	var err error
	if m.Config, err = l.put(file, l.config); err != nil {
		return v1.Descriptor{}, err
	}
	d, err := l.put(m, l.manifest)
	d.Platform = platform
	return d, err
}

// finish writes the index of the layout, and the list of images that older versions of Docker read. It returns the
// digest of the image: of its index if it is for several platforms.
func (l *layout) finish(images []v1.Descriptor, tag string) (digest v1.Hash, err error) {
	index := func(of ...v1.Descriptor) *v1.IndexManifest {
		return &v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: of}
	}
	top := images[0]
	if len(images) > 1 {
		if top, err = l.put(index(images...), types.OCIImageIndex); err != nil {
			return digest, err
		}
	}
	top.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": tag, "io.containerd.image.name": qualified(tag),
	}
	err = errors.Join(l.write("index.json", index(top)),
		l.write("oci-layout", map[string]string{"imageLayoutVersion": "1.0.0"}))
	if err == nil && top.MediaType == types.DockerManifestSchema2 {
		err = l.writeDockerManifest(top.Digest, tag)
	}
	return top.Digest, err
}

func (l *layout) write(name string, value any) error {
	text, err := json.Marshal(value)
	return errors.Join(err, os.WriteFile(filepath.Join(l.dir, name), append(text, '\n'), 0o644))
}

func (l *layout) writeDockerManifest(digest v1.Hash, tag string) error {
	text, err := os.ReadFile(l.blob(digest))
	if err != nil {
		return err
	}
	var m v1.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	var layers []string
	for _, one := range m.Layers {
		layers = append(layers, blobs+one.Digest.Hex)
	}
	return l.write("manifest.json", []map[string]any{
		{"Config": blobs + m.Config.Digest.Hex, "RepoTags": []string{tag}, "Layers": layers},
	})
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
