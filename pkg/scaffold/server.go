package scaffold

import (
	"context"
	_ "embed" // the wrapper
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/userfile"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/text/shell"
)

// ignored are the patterns that a project keeps out of version control.
var ignored = []string{".registry/", "*.log", "*.mcp-bash.bak", ".DS_Store", "Thumbs.db"}

const helloDir = "tools/hello"

// A Server is a project that was created or completed.
type Server struct {
	Root string `json:"projectRoot"` // absolute, without symbolic links
	Name string `json:"name"`        // the name that clients see
	// Paths relative to Root, in order: new ones, extended ones, and unchanged ones.
	Created []string `json:"created"`
	Updated []string `json:"updated"`
	Skipped []string `json:"skipped"`
}

// Init creates a project in a directory, and keeps the files that exist. If hello is true, it adds a first tool. If
// name is "", it uses the name of the directory. Init calls warn with problems that could stop the project from
// working. If then returns an error, everything is as it was.
func Init(ctx context.Context, dir, name string, hello bool, warn func(string), then func(*Server) error) (s *Server,
	err error) {
	root, err := fsys.Physical(dir)
	if err != nil {
		return nil, failed(dir, err)
	}
	if name == "" {
		name = filepath.Base(root)
	}
	w := newWriter(ctx, root)
	defer w.close(&err)
	s = &Server{root, name, []string{}, []string{}, []string{}}
	if err := s.fill(w, hello); err != nil {
		return nil, err
	}
	p := project.Open(root, project.Env{}, root, func(string) {})
	if len(s.Skipped) > 0 && s.Skipped[0] == project.Marker { // the file can have another name
		s.Name = p.Meta.Name
	}
	warnRefused(p, filepath.Join(root, filepath.FromSlash(project.Marker)), warn)
	warnRefused(p, p.Tools, warn)
	return s, then(s)
}

// New creates a project in a new directory below dir, completely or not at all. If then returns an error, nothing is
// left.
func New(ctx context.Context, dir, name string, hello bool, then func(*Server) error) (s *Server, err error) {
	if err := checkName("server", name); err != nil {
		return nil, err
	}
	if dir, err = fsys.Physical(dir); err != nil {
		return nil, failed(dir, err)
	}
	w := newWriter(ctx, dir)
	defer w.close(&err)
	target := filepath.Join(dir, name)
	if info, err := w.look(target); err != nil {
		return nil, err
	} else if info != nil {
		return nil, taken(target, "server")
	}
	s = &Server{filepath.Join(dir, temporaryName(name)), name, []string{}, []string{}, []string{}}
	err = s.fill(w, hello)
	if err == nil {
		err = s.addFile(w, render("readme", name, "")[0])
	}
	if err != nil {
		return nil, err
	}
	root := w.roots[dir]
	if err := root.Rename(filepath.Base(s.Root), name); errors.Is(err, fs.ErrExist) { // another process was faster
		return nil, taken(target, "server")
	} else if err != nil {
		return nil, failed(target, err)
	}
	w.undo = append(w.undo, func() { root.RemoveAll(name) })
	s.Root = target
	return s, then(s)
}

// fill writes the parts of a project that do not exist yet.
func (s *Server) fill(w *writer, hello bool) error {
	if err := s.addFile(w, render("server", s.Name, "../"+schemasDir)[0]); err != nil {
		return err
	}
	for _, part := range []struct {
		path  string
		files []file
	}{{schemasDir, schemaFiles()}, {"tools", nil}} {
		fresh, err := s.addDir(w, part.path, part.files)
		if err != nil {
			return err
		} else if fresh {
			s.Created = append(s.Created, part.path)
		}
	}
	if err := s.ignore(w); err != nil || !hello {
		return err
	}
	files := render("hello", "hello", "../../"+schemasDir)
	fresh, err := s.addDir(w, helloDir, files)
	if err != nil || !fresh {
		s.Skipped = append(s.Skipped, helloDir)
		return err
	}
	for _, f := range files {
		s.Created = append(s.Created, path.Join(helloDir, f.path))
	}
	test := render("hellocase", "hello", "../"+schemasDir)[0]
	test.path = project.TestsDir + "/" + test.path
	return s.addFile(w, test)
}

// addFile writes a file unless it exists.
func (s *Server) addFile(w *writer, f file) error {
	at := s.path(f.path)
	if info, err := w.look(at); err == nil && info != nil && info.Mode().IsRegular() {
		s.Skipped = append(s.Skipped, f.path)
		return nil
	}
	s.Created = append(s.Created, f.path)
	return w.put(at, f)
}

// addDir writes a directory with files unless it exists.
func (s *Server) addDir(w *writer, name string, files []file) (fresh bool, err error) {
	dir := s.path(name)
	info, err := w.look(dir)
	if err != nil || info != nil && info.IsDir() {
		return false, err
	}
	if info != nil { // a file, or a link
		return false, w.mkdir(dir)
	}
	return true, w.putDir(dir, "directory", files)
}

func (s *Server) path(name string) string { return filepath.Join(s.Root, filepath.FromSlash(name)) }

// maxIgnore limits the size of a .gitignore that is extended, in bytes.
const maxIgnore = 1 << 20

const gitignore = ".gitignore"

// ignore adds the patterns that .gitignore lacks.
func (s *Server) ignore(w *writer) error {
	list := &s.Created
	err := w.edit(s.path(gitignore), modeFile, maxIgnore, func(old userfile.File) ([]byte, error) {
		text := string(old.Text)
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		missing := false
		for _, entry := range ignored {
			if !strings.Contains(string(old.Text), entry) {
				text, missing = text+entry+"\n", true
			}
		}
		switch {
		case !missing:
			list = &s.Skipped
			return old.Text, nil
		case old.There:
			list = &s.Updated
		}
		return []byte(text), nil
	})
	*list = append(*list, gitignore)
	return err
}

// Open finds the project and reads its settings (cli chapter 4).
func Open(named string, warn func(string)) (*project.Project, error) {
	env := project.OSEnv()
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	root, err := project.FindRoot(env, named, dir)
	if missing, ok := errors.AsType[*project.MissingError](err); ok { // CLI-402
		return nil, cli.Baref(cli.CodeNotFound, "mcp-bash scaffold: %s", missing.Reason()).
			WithHint("Create it first: mkdir -p %s", shell.Quote(missing.Dir))
	} else if err != nil {
		return nil, err
	}
	return project.Open(root, env, dir, warn), nil
}

// The parts of the wrapper: a script, and the part that reads profiles, which replaces one
// of its lines.
var (
	//go:embed wrapper/wrapper.sh
	wrapper string
	//go:embed wrapper/profiles.sh
	readProfiles string
)

// Wrapper returns a script that starts the server of the directory that it is in. If profiles is true, the script first
// reads the variables that the user's shell profiles export.
func Wrapper(profiles bool) string {
	insert := ""
	if profiles {
		_, insert, _ = strings.Cut(readProfiles, "\n") // without the line for linters
		insert += "\n"
	}
	return strings.Replace(wrapper, "# PROFILES\n", insert, 1)
}

// WriteWrapper writes a wrapper into a new file.
func WriteWrapper(ctx context.Context, path, text string) (err error) {
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	w := newWriter(ctx, filepath.Dir(path))
	defer w.close(&err)
	return w.putNew(path, file{text: text, mode: modeScript})
}
