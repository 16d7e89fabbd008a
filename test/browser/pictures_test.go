//go:build browser

package browser

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// maxPicture is the maximum size of a picture in docs/pictures, in bytes.
const maxPicture = 60_000

// comparePicture compares a view with its picture in docs/pictures, which "make pictures" replaces. The picture shows
// the light view next to the dark one. The text of the view must be the same. The views must look alike, but fonts may
// differ.
func comparePicture(t *testing.T, name string, light, dark image.Image, text string) {
	t.Helper()
	file := filepath.Join("..", "..", "docs", "pictures", name+".png")
	shown := sideBySide(light, dark)
	if os.Getenv("UPDATE") != "" {
		var b bytes.Buffer
		err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, shown)
		if err = errors.Join(err, os.WriteFile(file, withText(b.Bytes(), text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(content) > maxPicture {
		t.Errorf("%s has %d bytes, not at most %d", file, len(content), maxPicture)
	}
	want, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if got := textOf(content); got != text {
		t.Errorf("%s shows another text than the view; run make pictures\n%s\n%s", file, got, text)
	}
	if share := differing(want, shown); share > maxDiffering {
		t.Errorf("%s looks different from the view, in %.0f %% of its area; run make pictures", file, 100*share)
	}
}

// sideBySide returns a picture of both views.
func sideBySide(light, dark image.Image) image.Image {
	const gap = 16
	a, b := light.Bounds().Size(), dark.Bounds().Size()
	both := image.NewNRGBA(image.Rect(0, 0, a.X+gap+b.X, max(a.Y, b.Y)))
	draw.Draw(both, image.Rect(0, 0, a.X, a.Y), light, image.Point{}, draw.Src)
	draw.Draw(both, image.Rect(a.X+gap, 0, a.X+gap+b.X, b.Y), dark, image.Point{}, draw.Src)
	return both
}

const (
	block        = 20   // the side of a square, in pixels, about a line of text
	tolerance    = 0.1  // the difference of brightness at which squares differ
	maxDiffering = 0.05 // the share of different squares at which pictures differ
)

// differing returns the share of squares whose mean brightness differs. Letters of other fonts differ little, a border,
// a background or a control at another place differs much.
func differing(a, b image.Image) float64 {
	area := a.Bounds().Union(b.Bounds())
	different, all := 0.0, 0.0
	for y := area.Min.Y; y < area.Max.Y; y += block {
		for x := area.Min.X; x < area.Max.X; x += block {
			all++
			square := image.Rect(x, y, x+block, y+block)
			if d := meanOf(a, square) - meanOf(b, square); d > tolerance || d < -tolerance {
				different++
			}
		}
	}
	return different / all
}

// meanOf returns the mean brightness in a rectangle, from 0 to 1. The area outside of the picture counts as black.
func meanOf(p image.Image, r image.Rectangle) float64 {
	sum := 0.0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			sum += float64(color.GrayModel.Convert(p.At(x, y)).(color.Gray).Y)
		}
	}
	return sum / 255 / float64(r.Dx()*r.Dy())
}

// textChunk is the type of the chunk with the text of a view. It comes right after the header of the picture.
const textChunk = "teXt"

const headerSize = 8 + 25 // the signature, and the chunk IHDR

func withText(picture []byte, text string) []byte {
	out := append([]byte{}, picture[:headerSize]...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(text)))
	chunk := append([]byte(textChunk), text...)
	out = binary.BigEndian.AppendUint32(append(out, chunk...), crc32.ChecksumIEEE(chunk))
	return append(out, picture[headerSize:]...)
}

func textOf(picture []byte) string {
	rest := picture[min(headerSize, len(picture)):]
	if len(rest) < 8 || string(rest[4:8]) != textChunk {
		return ""
	}
	size := int(binary.BigEndian.Uint32(rest))
	return string(rest[8:min(8+size, len(rest))])
}

// The comparison accepts other letters, and reports a shifted control, another colour and another height.
func TestDiffering(t *testing.T) {
	paint := func(height int, parts ...image.Rectangle) image.Image {
		p := image.NewNRGBA(image.Rect(0, 0, 400, height))
		draw.Draw(p, p.Bounds(), image.White, image.Point{}, draw.Src)
		for _, part := range parts {
			draw.Draw(p, part, image.NewUniform(color.NRGBA{40, 90, 200, 255}), image.Point{}, draw.Src)
		}
		return p
	}
	button, moved := image.Rect(20, 20, 220, 60), image.Rect(180, 140, 380, 180)
	line, otherLine := image.Rect(20, 100, 300, 101), image.Rect(20, 102, 300, 103)
	base := paint(200, button, line)
	for name, tc := range map[string]struct {
		picture image.Image
		differs bool
	}{
		"the same": {base, false}, "another font": {paint(200, button, otherLine), false},
		"moved": {paint(200, moved, line), true}, "no button": {paint(200, line), true},
		"higher": {paint(240, button, line), true},
	} {
		if share := differing(base, tc.picture); share > maxDiffering != tc.differs {
			t.Errorf("%s: %.2f", name, share)
		}
	}
}
