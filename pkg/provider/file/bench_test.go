//go:build unix

package file

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkRead compares a read through roots with a read by name.
func BenchmarkRead(b *testing.B) {
	dir := place(b)
	name := filepath.Join(dir, "root/kilobyte")
	if err := os.WriteFile(name, make([]byte, 1024), 0o644); err != nil {
		b.Fatal(err)
	}
	p := reader(dir, "{T}/root")
	b.Run("provider", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := p.Read(b.Context(), "file://"+name, limit); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("floor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := os.ReadFile(name); err != nil {
				b.Fatal(err)
			}
		}
	})
}
