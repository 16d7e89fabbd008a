// Package stage prepares a project for people who install it: as a bundle, as a plugin or as a container image.
//
// A [Stage] reads the project's settings, copies its files to a private tree, and lists the items of that tree
// ([Open]). A product adds its files. [Stage.Prepare] makes the registry, adds the server,
// and starts it there. The project itself is never changed.
package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/run/script"
)

// Options are the options of all products.
type Options struct {
	Name, Version string // "" for those of the project
	Output        string // where the product goes; "" for the working directory
	Validate      bool   // check, write nothing
	Targets       []runtimes.Target
	AllTargets    bool // whether a missing program for a target is an error
	RuntimeDir    string
	Offline       bool
	NoExec        bool // mcpb.conf is never run
	NoSmoke       bool
	Apart         bool   // the server's programs are in other products; the program of this machine checks the project
	RegistryName  string // the server's name in the MCP registry; "" for that of the project
	Strict        bool
	Verbose       bool
	// Instructions returns a section for the README of a package.
	Instructions func(name, version string) (string, error)

	Home string       // the installation tree, "" for the copy in the binary
	Tree project.Tree // the copy in the binary
	Out  io.Writer    // progress, for people
	Err  io.Writer    // faults and warnings
	Bar  *cli.Bar     // the progress; may be nil
}

// The subjects of a [Failure].
var (
	ErrConfiguration = errors.New("bundle configuration failed")
	ErrValidation    = errors.New("bundle validation failed")
	ErrRuntime       = errors.New("bundle runtime missing")
	ErrPackages      = errors.New("debian packages are not available")
)

// A Failure is the error for a project with faults, which were printed.
type Failure struct {
	About  error
	Faults []string
}

func (f *Failure) Error() string { return f.About.Error() + ": " + strings.Join(f.Faults, "; ") }

func (f *Failure) Unwrap() error { return f.About }

// Fail returns the error for the faults that were printed.
func (s *Stage) Fail(about error) error { return &Failure{about, s.faults} }

// verdict returns the error for the faults that were printed, or nil for none.
func (s *Stage) verdict() error {
	if len(s.faults) == 0 {
		return nil
	}
	return s.Fail(ErrValidation)
}

// Reject prints a fault and returns the error for it.
func (s *Stage) Reject(about, fault error) error {
	s.Fault("%v", fault)
	return s.Fail(about)
}

// The layout of a stage, and of bundles and plugins.
const (
	ServerDir  = "server"
	EntryPoint = ServerDir + "/run-server.sh"
)

// A Stage is a project that is being prepared, with its private tree.
type Stage struct {
	Options
	Project  *project.Project
	Modified time.Time // of the files in a product
	Config   Config
	ID       Identity
	User     UserConfig
	Content  Content
	Staged   *project.Project // the private tree
	Tools    []json.RawMessage
	Prompts  []json.RawMessage
	Static   bool // whether the registry is part of the content, so that the server does not look for items
	Binaries []runtimes.Binary
	Warnings []string // the printed warnings

	faults    []string
	resources int
	runner    *script.Runner
	work      *project.TempDir
	root      *source         // the project's directory
	known     []string        // files and directories that are part of the content, or have another purpose
	outside   map[string]bool // the folders of tools that start a file outside of the project
}

// Open reads the settings of a project and copies its files to a private tree. The error can be a [*Failure] or the
// context's. The caller must call Close.
func Open(ctx context.Context, p *project.Project, o Options) (*Stage, error) {
	s, err := begin(p, o)
	if err != nil {
		return nil, err
	}
	s.Line("Validating project...")
	if err = s.configure(ctx); err == nil {
		err = s.copyFiles(ctx)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// begin returns a stage with an empty private tree.
func begin(p *project.Project, o Options) (*Stage, error) {
	s := &Stage{Options: o, Project: p, Modified: mcpb.Epoch, runner: new(script.Runner)}
	if seconds, err := strconv.ParseInt(p.Env["SOURCE_DATE_EPOCH"], 10, 64); err == nil {
		s.Modified = time.Unix(seconds, 0).UTC()
	}
	var err error
	if s.Output, err = filepath.Abs(o.Output); err != nil {
		return nil, err
	}
	project.CleanTmp(p.TmpRoot)
	work, err := project.MakeWorkDir(p.Env)
	if err != nil {
		return nil, fmt.Errorf("no room for the bundle to be put together: %w; "+
			"set MCPBASH_TMP_ROOT to a writable directory", err)
	}
	s.work = work
	return s, nil
}

// Close removes the private tree.
func (s *Stage) Close() {
	if s.root != nil {
		s.root.root.Close()
		s.Content.work.Close()
	}
	s.work.Remove()
}

// WorkDir returns a path for files of the product, which Close removes.
func (s *Stage) WorkDir(name string) string { return filepath.Join(s.work.Path, name) }

func (s *Stage) configure(ctx context.Context) error {
	text, err := s.Project.ReadFile(filepath.Join(s.Project.Server, "server.meta.json"), mcpb.MaxManifest)
	switch doc, errJSON := rawjson.Check(text); {
	case errors.Is(err, fs.ErrNotExist):
		s.Fault("Missing required server.d/server.meta.json")
		s.Note(`  → Run "mcp-bash init" to create project structure`)
		return s.Fail(ErrValidation)
	case err != nil:
		return s.Reject(ErrValidation, fmt.Errorf("server.d/server.meta.json: %w", err))
	case errJSON != nil || rawjson.KindOf(doc) != rawjson.Object:
		s.Fault("Invalid JSON in server.d/server.meta.json")
		return s.Fail(ErrValidation)
	default:
		s.Config.Meta = rawjson.Normal(doc)
	}
	s.checkScriptEnv()
	if s.Config.conf, err = s.readConf(ctx); err == nil {
		s.ID, err = s.identify(ctx)
	}
	if err == nil {
		s.User, err = s.readUserConfig()
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		return s.Reject(ErrConfiguration, err)
	}
	s.Detail("Resolved metadata: %s v%s", s.ID.Name, s.ID.Version)
	s.Detail("Author: %s", s.ID.Author)
	if !item.IsSemver(s.ID.Version) {
		s.WarnHint(fmt.Sprintf("Version %q is not valid semver (expected MAJOR.MINOR.PATCH)", s.ID.Version),
			"MCPB clients may reject non-semver versions")
	} else if s.ID.Version != s.Project.Meta.Version {
		s.Warn("the bundle has version %s, but its server has %s; set both in server.d/server.meta.json",
			s.ID.Version, s.Project.Meta.Version)
	}
	return s.verdict()
}

func (s *Stage) copyFiles(ctx context.Context) error {
	stage := s.WorkDir("stage")
	if err := os.MkdirAll(filepath.Join(stage, ServerDir), 0o755); err != nil {
		return err
	}
	work, err := os.OpenRoot(stage)
	if err != nil {
		return err
	}
	root, err := openSource(s.Project.Root, "")
	if err != nil {
		work.Close()
		return err
	}
	s.Content, s.root = Content{ctx: ctx, work: work}, root
	return s.collect()
}

// Environment returns the variables for starting the server in all products, as NAME=VALUE. The product adds the
// project's directory.
func (s *Stage) Environment() []string {
	env := []string{"MCPBASH_TOOL_ALLOWLIST=*"}
	if s.Static {
		env = append(env, "MCPBASH_STATIC_REGISTRY=1")
	}
	return env
}

// List makes the registry of the content, and reports missing files. The product must have added its files.
func (s *Stage) List(ctx context.Context) error {
	s.checkQuoted()
	s.report()
	s.reportRest()
	s.Detail("Pre-generating registry cache for static mode...")
	if err := s.buildRegistry(ctx); err != nil {
		return err
	}
	if len(s.Tools)+len(s.Prompts)+s.resources == 0 {
		s.Warn("No tools, resources, or prompts found")
	}
	s.checkComplete()
	return s.verdict()
}

// Prepare lists the content, adds the server, and checks the content for problems on other machines. Then it starts the
// server in the staged tree, and adds the last files. Before the checks, it calls add for files of the product that
// depend on others. add may be nil.
func (s *Stage) Prepare(ctx context.Context, add func() error) error {
	err := s.List(ctx)
	if err == nil {
		err = s.addRuntime(ctx)
	}
	if err == nil && add != nil {
		err = add()
	}
	if err == nil {
		s.checkContent()
		err = s.verdict()
	}
	if err != nil {
		return err
	}
	if err := s.smoke(ctx); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return s.Reject(ErrValidation, err)
	}
	if err := s.collectCache(); err != nil {
		return err
	}
	s.Done("Validated project structure")
	return nil
}
