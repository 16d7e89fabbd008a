package scaffold

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/project"
)

// ignored are the patterns that a project keeps out of version control (CLI-502).
var ignored = []string{".registry/", "*.log", "*.mcp-bash.bak", ".DS_Store", "Thumbs.db"}

const helloDir = "tools/hello"

// A Server is a project that was created or completed.
type Server struct {
	Root string // absolute, without symbolic links
	Name string // the name that clients see
	// Paths relative to Root, in order: new ones, extended ones, and unchanged ones.
	Created, Updated, Skipped []string

	fresh bool // the root is new
}

// Remove removes what was created. Files that existed stay.
func (s *Server) Remove() {
	if s.fresh {
		os.RemoveAll(s.Root)
		return
	}
	for _, name := range slices.Backward(s.Created) {
		os.RemoveAll(filepath.Join(s.Root, filepath.FromSlash(name)))
	}
	os.Remove(filepath.Join(s.Root, filepath.Dir(project.Marker))) // if it is empty
}

// Init creates a project in a directory, and keeps the files that exist (CLI-502). If hello
// is true, it adds a first tool. If name is "", it uses the name of the directory. Init
// calls warn with problems that could stop the project from working.
func Init(ctx context.Context, dir, name string, hello bool, warn func(string)) (*Server, error) {
	root, err := fsys.Physical(dir)
	if err != nil {
		return nil, failed(dir, err)
	}
	if name == "" {
		name = filepath.Base(root)
	}
	s, err := createFiles(ctx, root, name, hello, false)
	if err == nil {
		p := project.Open(root, project.Env{}, root, func(string) {})
		warnRefused(p, filepath.Join(root, filepath.FromSlash(project.Marker)), warn)
		warnRefused(p, p.Tools, warn)
	}
	return s, err
}

// New creates a project in a new directory below dir, completely or not at all.
func New(ctx context.Context, dir, name string, hello bool) (s *Server, err error) {
	if err := checkName("server", name); err != nil {
		return nil, err
	}
	if dir, err = fsys.Physical(dir); err != nil {
		return nil, failed(dir, err)
	}
	p, err := openPlace(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { p.close(err) }()
	info, err := p.look(name)
	if err != nil {
		return nil, err
	}
	if info != nil {
		return nil, taken(p.abs(name), "server")
	}
	temporary := temporaryName(name)
	if _, err := p.mkdir(temporary); err != nil {
		return nil, err
	}
	if s, err = createFiles(ctx, p.abs(temporary), name, hello, true); err != nil {
		return nil, err
	}
	if err := p.root.Rename(temporary, name); err != nil {
		p.root.RemoveAll(temporary)
		if errors.Is(err, fs.ErrExist) { // another process was faster
			return nil, taken(p.abs(name), "server")
		}
		return nil, failed(p.abs(name), err)
	}
	s.Root, s.fresh = p.abs(name), true
	return s, nil
}

func createFiles(ctx context.Context, root, name string, hello, readme bool) (s *Server, err error) {
	p, err := openPlace(ctx, root)
	if err != nil {
		return nil, err
	}
	defer func() { p.close(err) }()
	s = &Server{Root: root, Name: name}
	if err := s.addAbsent(p, render("server", name, "../"+schemasDir)); err != nil {
		return nil, err
	}
	if info, err := p.look(schemasDir); err != nil {
		return nil, err
	} else if info == nil {
		if err := p.putDir(schemasDir, "schemas", schemaFiles()); err != nil {
			return nil, err
		}
		s.Created = append(s.Created, schemasDir)
	}
	made, err := p.mkdir("tools")
	if err != nil {
		return nil, err
	}
	if made {
		s.Created = append(s.Created, "tools")
	}
	at := map[*[]string]int{&s.Created: len(s.Created), &s.Skipped: len(s.Skipped)}
	if hello {
		if err := s.addHello(p); err != nil {
			return nil, err
		}
	}
	if readme {
		if err := s.addAbsent(p, render("readme", name, "")); err != nil {
			return nil, err
		}
	}
	// An addition to a file cannot be undone like a new file, so it comes last. It is listed
	// where people look for it.
	list, err := s.ignore(p)
	if err != nil {
		return nil, err
	}
	*list = slices.Insert(*list, at[list], gitignore)
	if len(s.Skipped) > 0 && s.Skipped[0] == project.Marker { // the file can have another name (CLI-406)
		s.Name = project.Open(root, project.Env{}, root, func(string) {}).Meta.Name
	}
	return s, nil
}

// addAbsent writes the files that do not exist yet.
func (s *Server) addAbsent(p *place, files []file) error {
	for _, f := range files {
		if _, err := p.mkdir(path.Dir(f.path)); err != nil {
			return err
		}
		info, err := p.look(f.path)
		switch {
		case err != nil:
			return err
		case info != nil && !info.Mode().IsRegular():
			return inTheWay(p.abs(f.path), info)
		case info != nil:
			s.Skipped = append(s.Skipped, f.path)
			continue
		}
		if err := p.put(f); err != nil {
			return err
		}
		s.Created = append(s.Created, f.path)
	}
	return nil
}

// addHello creates the first tool. If its directory exists, nothing in it changes.
func (s *Server) addHello(p *place) error {
	if info, err := p.look(helloDir); err != nil {
		return err
	} else if info != nil {
		s.Skipped = append(s.Skipped, helloDir)
		return nil
	}
	files := render("hello", "hello", "../../"+schemasDir)
	if err := p.putDir(helloDir, "tool", files); err != nil {
		return err
	}
	for _, f := range files {
		s.Created = append(s.Created, path.Join(helloDir, f.path))
	}
	return s.addAbsent(p, []file{caseOf("hellocase", "hello", "../"+schemasDir)})
}

// maxIgnore limits the size of a .gitignore that is extended, in bytes.
const maxIgnore = 1 << 20

const gitignore = ".gitignore"

// ignore adds the patterns that .gitignore lacks. It returns the list that .gitignore
// belongs to: Created, Updated or Skipped.
func (s *Server) ignore(p *place) (list *[]string, err error) {
	f := file{path: gitignore, mode: modeFile}
	info, err := p.look(gitignore)
	switch {
	case err != nil:
		return nil, err
	case info != nil && !info.Mode().IsRegular():
		return nil, inTheWay(p.abs(gitignore), info)
	case info != nil:
		if f.text, err = p.read(gitignore, maxIgnore); err != nil {
			return nil, err
		}
	}
	was := f.text
	if was != "" && !strings.HasSuffix(was, "\n") {
		f.text += "\n"
	}
	missing := false
	for _, entry := range ignored {
		if !strings.Contains(was, entry) {
			f.text += entry + "\n"
			missing = true
		}
	}
	switch {
	case !missing:
		return &s.Skipped, nil
	case info != nil:
		return &s.Updated, p.putOver(f, &was)
	}
	return &s.Created, p.put(f)
}

// missingRoot returns the error that scaffold reports for a project root that does not exist
// (CLI-402).
func missingRoot(err error) error {
	var missing *project.MissingError
	if !errors.As(err, &missing) {
		return err
	}
	return cli.Baref(cli.CodeNotFound, "mcp-bash scaffold: %s", missing.Reason()).
		WithHint("Create it first: mkdir -p %s", missing.Dir)
}

// Open finds the project and reads its settings (cli chapter 4).
func Open(named string, warn func(string)) (*project.Project, error) {
	env := project.OSEnv()
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	root, err := project.FindRoot(env, named, dir)
	if err != nil {
		return nil, missingRoot(err)
	}
	return project.Open(root, env, dir, warn), nil
}
