package runtimes

import (
	"bytes"
	"debug/buildinfo"
	"errors"
	"strings"
	"testing"
)

// The record is the one that the library of Go finds.
func TestBuildInfo(t *testing.T) {
	program, err := ours()
	if err != nil {
		t.Fatal(err)
	}
	want, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Repeat(recordMagic+strings.Repeat("x", recordHeader), maxMagics-1)
	for name, before := range map[string]string{"ours": "", "behind other uses of the magic": other} {
		got, err := BuildInfo(strings.NewReader(before + string(program)))
		if err != nil || got.String() != want.String() || got.Path != serverPackage {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for name, text := range map[string]string{
		"empty": "", "magic": recordMagic, "too many magics": other + recordMagic + string(program),
		"cut": string(program[:bytes.Index(program, []byte(recordMagic))+recordHeader+40]),
	} {
		if got, err := BuildInfo(strings.NewReader(text)); !errors.Is(err, errNoRecord) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func FuzzBuildInfo(f *testing.F) {
	record := recordMagic + "\x08\x02" + strings.Repeat("\x00", 16) + "\x08go1.26.0"
	settings := strings.Repeat("a", recordFrame) + "path\tx\nbuild\tGOOS=linux\n" + strings.Repeat("b", recordFrame)
	f.Add([]byte(record + string(rune(len(settings))) + settings))
	f.Add([]byte(record + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" + settings))
	f.Fuzz(func(t *testing.T, text []byte) {
		if info, err := BuildInfo(bytes.NewReader(text)); (info == nil) == (err == nil) {
			t.Errorf("%v, %v", info, err)
		}
	})
}
