//go:build unix

package clients

import (
	"bytes"
	"image/color"
	"image/gif"
	"path/filepath"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

// examples/04-embedded, attach (T-230 to T-235; SDK-80).
func TestEmbeddedResources(t *testing.T) {
	t.Parallel()
	root, outside := checkout.Directory(t), checkout.Directory(t)
	note := write(t, "Ünïcode\n\n", root, "a note.txt")
	blob := write(t, "\x00\x01\xff", root, "data.bin")
	secret := write(t, "secret", outside, "secret.txt")
	s := open(t, checkout.Example(t, "04-embedded"), opening{roots: []string{root}})

	attached := func(path string) *mcp.ResourceContents {
		t.Helper()
		result := s.succeed("attach", arguments{"path": path})
		got := structured[struct{ Result struct{ Attached string } }](t, result)
		if got.Result.Attached != filepath.Base(path) || len(result.Content) != 2 {
			t.Fatal(compact(t, result))
		}
		item, ok := result.Content[1].(*mcp.EmbeddedResource)
		if !ok {
			t.Fatal(compact(t, result))
		}
		return item.Resource
	}
	if r := attached(note); r.Text != "Ünïcode\n\n" || r.MIMEType != "text/plain" ||
		r.URI != "file://"+root+"/a%20note.txt" {
		t.Errorf("%+v", r)
	}
	if r := attached(blob); !bytes.Equal(r.Blob, []byte("\x00\x01\xff")) || r.MIMEType != "application/octet-stream" {
		t.Errorf("%+v", r)
	}
	s.fail("attach", arguments{"path": secret}, -32602, ".path is outside configured MCP roots: "+root)
	s.refuse("attach", arguments{"path": root + "/none"}, "not_found")
}

// examples/04-embedded without a client's roots: its own documents.
func TestEmbeddedProjectFile(t *testing.T) {
	t.Parallel()
	s := open(t, checkout.Example(t, "04-embedded"),
		opening{client: mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}})
	result := s.succeed("attach", arguments{"path": "documents/tides.md"})
	if item, ok := result.Content[1].(*mcp.EmbeddedResource); !ok || item.Resource.MIMEType != "text/markdown" {
		t.Error(compact(t, result))
	}
}

// examples/04-embedded with a client whose roots cannot be used: nothing may be
// embedded (P-2108, T-231).
func TestEmbeddedWithoutRoots(t *testing.T) {
	t.Parallel()
	s := open(t, checkout.Example(t, "04-embedded"), opening{roots: []string{"/no/such/folder"}})
	s.fail("attach", arguments{"path": "documents/tides.md"}, -32602, ".path is outside configured MCP roots: none")
}

// examples/04-embedded, swatch: a whole result of the tool's own (T-196).
func TestImage(t *testing.T) { inBothProtocols(t, testImage) }

func testImage(t *testing.T, protocol string) {
	t.Parallel()
	s := open(t, checkout.Example(t, "04-embedded"), opening{revision: protocol})
	result := s.succeed("swatch", arguments{"color": "#ff8001"})
	if text(t, result) != "#ff8001" || len(result.Content) != 2 || result.StructuredContent != nil {
		t.Fatal(compact(t, result))
	}
	item, ok := result.Content[1].(*mcp.ImageContent)
	if !ok || item.MIMEType != "image/gif" {
		t.Fatal(compact(t, result))
	}
	picture, err := gif.Decode(bytes.NewReader(item.Data))
	if err != nil {
		t.Fatal(err)
	}
	r, g, b, _ := color.RGBAModel.Convert(picture.At(0, 0)).RGBA()
	if got := []uint32{r >> 8, g >> 8, b >> 8}; !slices.Equal(got, []uint32{0xff, 0x80, 0x01}) ||
		picture.Bounds().Dx() != 1 {
		t.Errorf("%x, %v", got, picture.Bounds())
	}
	s.refuse("swatch", arguments{"color": "red"}, "validation_error")
}
