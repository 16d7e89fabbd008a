//go:build programs

package programs

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// folder is where install.sh has put the programs.
func folder(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("MCPBASH_TEST_PROGRAMS")
	if dir == "" {
		out, err := exec.Command("./install.sh").Output()
		if err != nil {
			t.Fatalf("install.sh: %v", err)
		}
		dir = strings.TrimSpace(string(out))
	}
	return dir
}

// folders are variables with folders that programs look for in /usr.
var folders = map[string]string{
	"MAGICK_CODER_MODULE_PATH": "usr/lib/*-linux-gnu/ImageMagick-*/modules-*/coders",
	"MAGICK_CONFIGURE_PATH":    "etc/ImageMagick-6",
	"pandoc_datadir":           "usr/share/pandoc",
}

// place returns a PATH and a MANPATH with the programs.
func place(t testing.TB) (path, manPath string) {
	t.Helper()
	dir := folder(t)
	root := filepath.Join(dir, "root")
	t.Setenv("PYTHONPATH", filepath.Join(root, "usr/lib/python3/dist-packages"))
	libraries, _ := filepath.Glob(filepath.Join(root, "usr/lib/*-linux-gnu"))
	t.Setenv("LD_LIBRARY_PATH", strings.Join(libraries, ":"))
	for name, pattern := range folders {
		if found, _ := filepath.Glob(filepath.Join(root, pattern)); len(found) > 0 {
			t.Setenv(name, found[0])
		}
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	path = strings.Join([]string{
		filepath.Join(dir, "bin"), filepath.Join(dir, "npm/node_modules/.bin"), filepath.Join(root, "usr/bin"),
		filepath.Join(root, "bin"), filepath.Join(strings.TrimSpace(string(goroot)), "bin"), os.Getenv("PATH"),
	}, ":")
	return path, filepath.Join(root, "usr/share/man")
}

// listeners starts the servers that calls connect to, and returns their addresses.
func listeners(t *testing.T, project string) []string {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/missing" {
			http.NotFound(w, r)
			return
		}
		if r.URL.Path == "/tone.wav" {
			w.Header().Set("Content-Type", "audio/wav")
			header := []uint16{16, 0, 1, 1, 8000, 0, 8000, 0, 1, 8} // mono, 8000 samples of one byte in a second
			sound, _ := binary.Append([]byte("RIFF\x24\x00\x00\x00WAVEfmt "), binary.LittleEndian, header)
			w.Write(append(sound, "data\x00\x00\x00\x00"...))
			return
		}
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintln(w, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Header.Get("X-Word")+string(body)))
	}))
	t.Cleanup(web.Close)
	greeter := listen(t, func(c net.Conn) { io.WriteString(c, "hello\n") })
	broker := listen(t, func(c net.Conn) {
		received, err := os.Create(filepath.Join(project, "stomp/received"))
		if err != nil {
			return
		}
		defer received.Close()
		for r := bufio.NewReader(c); ; {
			frame, err := r.ReadString(0)
			received.WriteString(frame)
			if err != nil {
				return
			}
			if strings.HasPrefix(frame, "STOMP\n") {
				io.WriteString(c, "CONNECTED\nversion:1.1\n\n\x00")
			} else if _, id, ok := strings.Cut(frame, "\nreceipt:"); ok {
				id, _, _ = strings.Cut(id, "\n")
				io.WriteString(c, "RECEIPT\nreceipt-id:"+id+"\n\n\x00")
			}
		}
	})
	return []string{"{http}", web.URL, "{tcp}", greeter, "{stomp}", broker, "{dns}", resolver(t)}
}

// resolver answers each question for an address by DNS with 192.0.2.7, and returns its port.
func resolver(t *testing.T) string {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	go func() {
		question := make([]byte, 512)
		for {
			n, from, err := c.ReadFrom(question)
			if err != nil {
				return
			}
			end := 12 + bytes.IndexByte(question[12:n], 0) + 5 // of the name, the type and the class
			if end > n {
				continue
			}
			answer := slices.Concat(question[:2], []byte{0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0}, question[12:end],
				[]byte{0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7})
			c.WriteTo(answer, from)
		}
	}()
	_, port, _ := net.SplitHostPort(c.LocalAddr().String())
	return port
}

// listen answers whoever connects, and returns the port.
func listen(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				answer(c)
			}()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func write(t *testing.T, file, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// textOf returns the text of a result.
func textOf(result *mcp.CallToolResult) string {
	var parts []string
	for _, c := range result.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			parts = append(parts, text.Text)
		}
	}
	return strings.Join(parts, "\n")
}
