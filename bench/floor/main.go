// Floor does the minimum work of a server or an indexing program. The difference to a measured program is
// the cost of its other work.
//
//	floor wire            answers each line with the same line
//	floor web             answers each HTTP request with the same text
//	floor through SCRIPT  answers each line with the output of a script
//	floor read FILE       answers each line with the text in a file
//	floor check DIR FILE  reads and checks all metadata below DIR, writes one file
//	floor stat DIR        reads the metadata of every file below DIR
//	floor validate DIR    reads and checks all files below DIR, has Bash read the scripts
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"mcp-bash/pkg/json/rawjson"
)

func main() {
	log.SetFlags(0)
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 1 && args[0] == "wire":
		err = wire()
	case len(args) == 1 && args[0] == "web":
		err = web()
	case len(args) == 2 && args[0] == "through":
		err = each(func() error { return answerWith(args[1]) })
	case len(args) == 2 && args[0] == "read":
		err = each(func() error { return answerFrom(args[1]) })
	case len(args) == 3 && args[0] == "check":
		err = check(args[1], args[2])
	case len(args) == 2 && args[0] == "stat":
		err = stat(args[1])
	case len(args) == 2 && args[0] == "validate":
		err = validate(args[1])
	default:
		err = fmt.Errorf("usage: floor wire | web | through SCRIPT | read FILE | check DIR FILE | stat DIR | validate DIR")
	}
	if err != nil {
		log.Fatal(err)
	}
}

var answer = []byte(`{"jsonrpc":"2.0","id":1000000,"result":{}}` + "\n")

// wire does not look inside the lines, it only counts them.
func wire() error {
	in, out := make([]byte, 64<<10), []byte(nil)
	for {
		n, err := os.Stdin.Read(in)
		out = out[:0]
		for range bytes.Count(in[:n], []byte{'\n'}) {
			out = append(out, answer...)
		}
		if len(out) > 0 {
			if _, err := os.Stdout.Write(out); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// web does not look inside requests either. For GET it opens a stream and keeps it.
func web() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "serving http://%s/mcp\n", listener.Addr())
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/event-stream")
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Mcp-Session-Id", "1")
		w.Header().Set("Content-Type", "application/json")
		if r.ContentLength < 56 { // notifications/initialized
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Write(answer)
	}))
}

// each does something for each line.
func each(do func() error) error {
	in := make([]byte, 64<<10)
	for {
		n, err := os.Stdin.Read(in)
		for range bytes.Count(in[:n], []byte{'\n'}) {
			if err := do(); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// answerWith runs a script and passes on what it prints.
func answerWith(script string) error {
	cmd := exec.Command("bash", script)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	text, err := io.ReadAll(out)
	if err != nil {
		return err
	}
	if err := cmd.Wait(); err != nil {
		return err
	}
	line := make([]byte, 0, len(text)+len(text)/16+128)
	line = append(line, `{"jsonrpc":"2.0","id":1000000,"result":{"content":[{"type":"text","text":`...)
	line = rawjson.AppendValid(line, text)
	_, err = os.Stdout.Write(append(line, `}]}}`+"\n"...))
	return err
}

// answerFrom reads a file and passes it on.
func answerFrom(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	line := make([]byte, 0, len(text)+len(text)/16+256)
	line = append(line, `{"jsonrpc":"2.0","id":1000000,"result":{"contents":[{"uri":"file://`...)
	line = append(append(line, file...), `","mimeType":"text/plain","text":`...)
	line = rawjson.AppendValid(line, text)
	_, err = os.Stdout.Write(append(line, `}]}}`+"\n"...))
	return err
}

// check reads the files that describe items: metadata, and manual registrations.
func check(dir, file string) error {
	var all []byte
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if cache(d) {
			return fs.SkipDir
		}
		if name := d.Name(); !strings.HasSuffix(name, ".meta.json") && name != "register.json" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !json.Valid(text) {
			return fmt.Errorf("%s: not JSON", path)
		}
		all = append(all, text...)
		return nil
	})
	if err != nil {
		return err
	}
	return os.WriteFile(file, all, 0o600)
}

// cache reports whether an entry is the directory of what check would write.
func cache(d fs.DirEntry) bool { return d.IsDir() && d.Name() == ".registry" }

func stat(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if cache(d) {
			return fs.SkipDir
		}
		_, err = d.Info()
		return err
	})
}

// validate reads every file once.
func validate(dir string) error {
	var scripts []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		switch {
		case err != nil:
			return err
		case strings.HasSuffix(path, ".sh"):
			scripts = append(scripts, path)
		case !json.Valid(text):
			return fmt.Errorf("%s: not JSON", path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	errs := make([]error, runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	var next atomic.Int64
	for i := range errs {
		group.Go(func() {
			for at := next.Add(1) - 1; at < int64(len(scripts)) && errs[i] == nil; at = next.Add(1) - 1 {
				errs[i] = exec.Command("bash", "-n", scripts[at]).Run()
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}
