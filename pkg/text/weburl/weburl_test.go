package weburl

import (
	"net"
	"strconv"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]error{
		"http://h": nil, "https://h/": nil, "https://h:1/p?q#f": nil, "http://127.0.0.1:65535": nil, "HTTP://H:80": nil,
		"http://[::1]:8000": nil, "http://u:p@h:80": nil,
		"": ErrForm, "h": ErrForm, "//h": ErrForm, "ftp://h": ErrForm, "http://": ErrForm, "http:///p": ErrForm,
		"http://:80": ErrForm, "h:80": ErrForm, "http://h:x": ErrForm, "http://h:-1": ErrForm, "http://a b": ErrForm,
		"http://h:0": ErrPort, "http://h:65536": ErrPort, "http://127.0.0.1:99999": ErrPort, "http://h:": ErrPort,
		"http://h:080": ErrPort, "http://[::1]:": ErrPort, "http://h:18446744073709551617": ErrPort,
	} {
		if _, err := Parse(text); err != want {
			t.Errorf("%q: %v, not %v", text, err, want)
		}
	}
}

func TestCheckImage(t *testing.T) {
	for name, want := range map[string]error{
		"demo": nil, "demo:99999": nil, "team/demo:0": nil, "r.example.com:5000/demo:1.0.0": nil,
		"r:65535/a/b:1": nil,
		"r:65536/demo":  ErrPort, "r:0/demo": ErrPort, "r.example.com:99999/a/b:1": ErrPort, "r:080/demo": ErrPort,
		"r:/x": ErrPort, "localhost/a": nil, "a@sha256:" + strings.Repeat("0", 64): nil, "": ErrImage, "A/b:1": nil,
		"a:": ErrImage, "No Name": ErrImage, "a/B": ErrImage, "a@sha256:0": ErrImage, "https://r/a": ErrPort,
		"a\nb": ErrImage,
	} {
		if err := CheckImage(name); err != want {
			t.Errorf("%q: %v, not %v", name, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("http://127.0.0.1:99999")
	f.Add("https://[::1]:443/x")
	f.Fuzz(func(t *testing.T, text string) {
		u, err := Parse(text)
		if err != nil {
			return
		}
		if port := u.Port(); port != "" {
			if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
				t.Errorf("%q: port %s", text, port)
			}
			if _, err := net.LookupPort("tcp", port); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}

// Every name and version make the name of an image.
func TestImageName(t *testing.T) {
	for _, c := range [][3]string{{"demo", "1.2.0+a", "demo:1.2.0-a"}, {"My_Tools", "", "my-tools:latest"},
		{"日", "...", "server:latest"}, {"-a-", strings.Repeat("1", 200), "a:" + strings.Repeat("1", 128)}} {
		if got := ImageName(c[0], c[1]); got != c[2] || CheckImage(got) != nil {
			t.Errorf("%q, want %q", got, c[2])
		}
	}
}
