// Package oci writes container images as files: an OCI layout, or an archive that Docker loads. The same
// content gives the same bytes.
package oci

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
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/gzip"
)

// A Format is a kind of output.
type Format int

const (
	OCI    Format = iota // an OCI layout
	Docker               // an OCI layout that docker load of any version reads too
)

// A Layout is a directory of blobs that becomes an image.
type Layout struct {
	dir    string
	format Format
}

// New creates a layout in an empty directory.
func New(dir string, format Format) (*Layout, error) {
	return &Layout{dir, format}, os.MkdirAll(filepath.Join(dir, blobs), 0o755)
}

const blobs = "blobs/sha256"

// A Layer is a layer of an image.
type Layer struct {
	Digest, DiffID v1.Hash // of the compressed and of the plain archive
	Size           int64   // of the compressed archive, in bytes
}

type hashing struct {
	io.Writer
	sum  hash.Hash
	size int64
}

func hashed(w io.Writer) *hashing {
	h := sha256.New()
	return &hashing{Writer: io.MultiWriter(w, h), sum: h}
}

func (h *hashing) Write(p []byte) (int, error) {
	n, err := h.Writer.Write(p)
	h.size += int64(n)
	return n, err
}

func (h *hashing) hash() v1.Hash {
	return v1.Hash{Algorithm: "sha256", Hex: fmt.Sprintf("%x", h.sum.Sum(nil))}
}

// AddLayer adds a layer with the files that write writes.
func (l *Layout) AddLayer(write func(*tar.Writer) error) (layer Layer, err error) {
	f, err := os.CreateTemp(l.dir, "layer-")
	if err != nil {
		return Layer{}, err
	}
	defer func() {
		f.Close()
		os.Remove(f.Name()) // nothing, once it has its name
	}()
	packed := hashed(f)
	z := gzip.NewWriter(packed)
	plain := hashed(z)
	t := tar.NewWriter(plain)
	if err := write(t); err != nil {
		return Layer{}, err
	}
	if err := errors.Join(t.Close(), z.Close(), f.Chmod(0o644), f.Close()); err != nil {
		return Layer{}, err
	}
	layer = Layer{Digest: packed.hash(), DiffID: plain.hash(), Size: packed.size}
	return layer, os.Rename(f.Name(), l.blob(layer.Digest))
}

func (l *Layout) blob(h v1.Hash) string { return filepath.Join(l.dir, blobs, h.Hex) }

func (l *Layout) put(value any, kind types.MediaType) (v1.Descriptor, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return v1.Descriptor{}, err
	}
	h, size, err := v1.SHA256(bytes.NewReader(text))
	if err != nil {
		return v1.Descriptor{}, err
	}
	return v1.Descriptor{MediaType: kind, Size: size, Digest: h}, os.WriteFile(l.blob(h), text, 0o644)
}

// An Image is an image for one platform.
type Image struct {
	Arch    string
	Config  v1.Config
	Layers  []Layer
	History []string // a description of each layer
	Created time.Time
}

// AddImage adds an image whose layers were added.
func (l *Layout) AddImage(img *Image) (v1.Descriptor, error) {
	manifestKind, configKind, layerKind := types.OCIManifestSchema1, types.OCIConfigJSON, types.OCILayer
	if l.format == Docker {
		manifestKind, configKind, layerKind = types.DockerManifestSchema2, types.DockerConfigJSON, types.DockerLayer
	}
	config := &v1.ConfigFile{
		Architecture: img.Arch, OS: "linux", Created: v1.Time{Time: img.Created}, Config: img.Config,
		RootFS: v1.RootFS{Type: "layers"},
	}
	m := &v1.Manifest{SchemaVersion: 2, MediaType: manifestKind, Annotations: img.annotations()}
	for i, layer := range img.Layers {
		config.RootFS.DiffIDs = append(config.RootFS.DiffIDs, layer.DiffID)
		config.History = append(config.History, v1.History{Created: config.Created, CreatedBy: img.History[i]})
		m.Layers = append(m.Layers, v1.Descriptor{MediaType: layerKind, Size: layer.Size, Digest: layer.Digest})
	}
	var err error
	if m.Config, err = l.put(config, configKind); err != nil {
		return v1.Descriptor{}, err
	}
	d, err := l.put(m, manifestKind)
	d.Platform = &v1.Platform{OS: "linux", Architecture: img.Arch}
	return d, err
}

// annotations returns the labels of the image that the OCI specification defines.
func (img *Image) annotations() map[string]string {
	list := map[string]string{}
	for name, value := range img.Config.Labels {
		if strings.HasPrefix(name, "org.opencontainers.image.") {
			list[name] = value
		}
	}
	return list
}

// Finish writes the index of the layout, and returns the digest of the image: of its index if it is for
// several platforms.
func (l *Layout) Finish(images []v1.Descriptor, tag string) (v1.Hash, error) {
	top := images[0]
	if len(images) > 1 {
		var err error
		top, err = l.put(&v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: images},
			types.OCIImageIndex)
		if err != nil {
			return v1.Hash{}, err
		}
	}
	top.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": tag, "io.containerd.image.name": qualified(tag),
	}
	index := &v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{top}}
	if err := l.write("index.json", index); err != nil {
		return v1.Hash{}, err
	}
	if l.format == Docker {
		if err := l.writeDockerManifest(top.Digest, tag); err != nil {
			return v1.Hash{}, err
		}
	}
	return top.Digest, l.write("oci-layout", map[string]string{"imageLayoutVersion": "1.0.0"})
}

func (l *Layout) write(name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(l.dir, name), append(text, '\n'), 0o644)
}

// writeDockerManifest writes the list of images that older versions of Docker read.
func (l *Layout) writeDockerManifest(digest v1.Hash, tag string) error {
	text, err := os.ReadFile(l.blob(digest))
	if err != nil {
		return err
	}
	var m v1.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	type image struct {
		Config           string
		RepoTags, Layers []string
	}
	i := image{Config: blobs + "/" + m.Config.Digest.Hex, RepoTags: []string{tag}}
	for _, layer := range m.Layers {
		i.Layers = append(i.Layers, blobs+"/"+layer.Digest.Hex)
	}
	return l.write("manifest.json", []image{i})
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

// files returns the names of all files of the layout: the small ones first, then blobs by digest.
func (l *Layout) files() ([]string, error) {
	names := []string{"oci-layout", "index.json"}
	if l.format == Docker {
		names = append(names, "manifest.json")
	}
	entries, err := os.ReadDir(filepath.Join(l.dir, blobs))
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		list = append(list, blobs+"/"+e.Name())
	}
	slices.Sort(list)
	return append(names, list...), nil
}

// WriteTar writes the layout as an archive.
func (l *Layout) WriteTar(w io.Writer, modified time.Time) error {
	names, err := l.files()
	if err != nil {
		return err
	}
	t := tar.NewWriter(w)
	for _, name := range names {
		f, err := os.Open(filepath.Join(l.dir, name))
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err == nil {
			err = t.WriteHeader(&tar.Header{
				Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: info.Size(), ModTime: modified, Format: tar.FormatUSTAR,
			})
		}
		if err == nil {
			_, err = io.Copy(t, f)
		}
		f.Close()
		if err != nil {
			return err
		}
	}
	return t.Close()
}

// WriteDir writes the layout into an empty directory.
func (l *Layout) WriteDir(dir string) error {
	names, err := l.files()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := copyFile(filepath.Join(l.dir, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Chmod(0o644), out.Close())
}
