// Package sandbox confines the scripts of a project to their permissions (confine.md).
//
// It makes a profile from the declaration of a tool, the roots of a call and the operator's
// mode. It also creates a private directory for the script and selects the confined thread
// that starts the script. Package confine translates a profile for the kernel, and package
// script manages the threads.
package sandbox

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/wire/mcp"
)

// A Config is the input of New.
type Config struct {
	Project *project.Project
	Mode    access.Confinement
	Kernel  func() confine.Kernel // the restrictions that the kernel supports
	Runner  *script.Runner
	Common  project.Env // the variables of every script
	State   *project.State
	Log     mcp.LogFunc
	// Listed returns the scripts of the registry, also the scripts of invalid entries. These scripts and the programs
	// that they start are code. It may be nil.
	Listed func() ([]Listed, error)
	// Sourced are the files that the operator has sourced.
	Sourced []string
}

// A Sandbox confines the scripts of one project. It is safe for concurrent use. A nil Sandbox
// confines nothing.
type Sandbox struct {
	Config
	system  func() *systemPaths // found when the first script is confined: it takes hundreds of system calls
	homes   func() fsys.Homes
	private privateDirs
	found   sync.Map    // the targets of declared paths; see declaredFile
	warned  sync.Map    // the warnings that were logged
	failed  mcp.LogFunc // for scripts that cannot be confined

	guarding sync.Mutex
	seen     seen
	guarded  *guard // the last guard, or nil
}

// New returns the sandbox of a project.
func New(c Config) *Sandbox {
	return &Sandbox{Config: c, failed: mcp.Sparse(c.Log), system: sync.OnceValue(func() *systemPaths {
		return findSystem(c.Project, c.State, c.Common, c.Sourced)
	}), homes: sync.OnceValue(func() fsys.Homes { return fsys.HomesOf(c.Project.Env["HOME"]) })}
}

// Homes returns the home directories of the user.
func (s *Sandbox) Homes() fsys.Homes { return s.homes() }

// A Subject is a script that is about to run.
type Subject struct {
	Name   string // in messages: "Tool 'x'"
	Script string // absolute path
	Argv   []string
	Needs  access.Declaration
	Roots  roots.List
	Files  []string // files of the server that the script may also write to

	Observer Observer // nil: the script is not observed
}

// key identifies the tool or other script. Several tools can share a script.
func (sub *Subject) key() string { return sub.Name + "\x00" + sub.Script }

// An Observer observes the system calls of a script.
type Observer interface {
	// Learns reports whether the script runs unconfined, and the observer records the actions that need a
	// declaration.
	Learns() bool
	// Confine returns a thread for the script. The thread is confined to the profile, unless the observer
	// learns. Confine is called only for scripts that the mode confines, and for observers that learn.
	Confine(k confine.Kernel, p *confine.Profile) (*script.Confined, error)
}

// A Confinement is the confined thread and the private directory of one run of a script. A nil
// Confinement confines nothing.
type Confinement struct {
	Confined *script.Confined
	Profile  *confine.Profile

	sandbox *Sandbox
	private *privateDir
	learns  bool // the script runs unconfined
}

// A Refusal is an access that a confinement refuses, although the user has permission.
type Refusal int

// The refusals of a path.
const (
	NotRefused   Refusal = iota
	UseRefused           // reading, changing, creating or removing
	StartRefused         // starting the program
)

// Refuses returns the access to a file or directory that the confinement refuses. The path is absolute. The result is
// NotRefused for files that do not exist, and for files that the user may not use either.
func (h *Confinement) Refuses(path string) Refusal {
	if h == nil || h.learns || !filepath.IsAbs(path) {
		return NotRefused
	}
	return h.refusal(path)
}

// RefusesPort reports whether the confinement refuses connections to a TCP port, or to any if the port is 0.
func (h *Confinement) RefusesPort(port uint16) bool {
	return h != nil && !h.learns && !h.Profile.Network && !slices.Contains(h.Profile.Connect, port)
}

// An Unconfinable is the error for a script if the mode requires restrictions that the kernel does not support.
type Unconfinable struct{ Lacks []string }

func (e *Unconfinable) Error() string {
	return fmt.Sprintf("this kernel cannot hold: %s; MCPBASH_CONFINE without \"required\" runs it all the same",
		strings.Join(e.Lacks, ", "))
}

// ConfineTool confines a tool if the mode selects it. Otherwise it returns nil. The error may be an [*Unconfinable].
// After any error the script must not run, in every mode. Otherwise a script that can cause an error could escape its
// confinement.
func (s *Sandbox) ConfineTool(sub *Subject) (*Confinement, error) {
	if sub.learns() {
		sub.Needs = access.Declaration{Given: true}
	} else if s == nil || !s.confines(&sub.Needs) {
		return nil, nil
	}
	return s.confine(sub, toolProfile(&sub.Needs), s.toolFiles)
}

func (s *Sandbox) confines(needs *access.Declaration) bool {
	return s.Mode.Declared && (needs.Given || s.Mode.All)
}

func (sub *Subject) learns() bool { return sub.Observer != nil && sub.Observer.Learns() }

// ConfineProvider confines a completion script or a resource provider, which declare nothing. In the mode "all", the
// script can read the project and, with network, contact other hosts.
func (s *Sandbox) ConfineProvider(sub *Subject, network bool) (*Confinement, error) {
	if s == nil || !s.Mode.All {
		return nil, nil
	}
	sub.Needs = access.Declaration{Given: true, Capabilities: []access.Capability{access.Search, access.Process}}
	if network {
		sub.Needs.Capabilities = append(sub.Needs.Capabilities, access.Network)
	}
	return s.confine(sub, toolProfile(&sub.Needs), s.toolFiles)
}

// confineHook confines policy.sh or register.sh. In the mode "all", the script cannot change files.
func (s *Sandbox) confineHook(sub *Subject) (*Confinement, error) {
	if s == nil || !s.Mode.All {
		return nil, nil
	}
	return s.confine(sub, confine.Profile{Network: true, Process: true}, nil)
}

// Hook returns a function that confines a hook. file is the script of the hook. The caller of the
// function must call release after the script has ended.
func (s *Sandbox) Hook(file string) script.ConfineFunc {
	return func(spec *script.Spec, files ...string) (release func(), err error) {
		h, err := s.confineHook(&Subject{Name: filepath.Base(file), Script: file, Files: files})
		if err != nil {
			return nil, err
		}
		if h != nil {
			h.Apply(spec)
			spec.Env = project.Override(spec.Env, "TMPDIR", filepath.Join(h.private.dir, tempName))
		}
		return h.End, nil
	}
}

// confine confines a script to a profile. files adds the files that the script may use to the profile. If files is
// nil, the script reads all files and writes only its own. An error is logged, too, because the operator has to
// correct its cause, and a client over HTTP is not the operator.
func (s *Sandbox) confine(sub *Subject, p confine.Profile, files filesFunc) (*Confinement, error) {
	h, err := s.tryConfine(sub, p, files)
	if err != nil {
		s.failed(mcp.Err, logger, fmt.Sprintf("%s cannot be confined: %v", sub.Name, err))
	}
	return h, err
}

func (s *Sandbox) tryConfine(sub *Subject, p confine.Profile, files filesFunc) (*Confinement, error) {
	if run, err := s.canEnforce(sub, &p); !run || err != nil {
		return nil, err
	}
	private, err := s.private.take(s.State, sub.key())
	if err != nil {
		return nil, err
	}
	h := &Confinement{sandbox: s, private: private, learns: sub.learns()}
	if h.Profile, err = s.profile(sub, private, p, files); err == nil {
		h.Confined, err = s.thread(sub, h.Profile)
	}
	if err != nil {
		h.Release()
		return nil, err
	}
	return h, nil
}

// canEnforce reports whether the kernel can enforce at least a part of a profile. If the mode requires the
// whole profile, the error names the other restrictions. Otherwise a warning names them.
func (s *Sandbox) canEnforce(sub *Subject, p *confine.Profile) (bool, error) {
	k := s.Kernel()
	lacks := k.Lacks(p)
	if len(lacks) == 0 || sub.learns() {
		return true, nil
	}
	if s.Mode.Required {
		return false, &Unconfinable{lacks}
	}
	what := strings.Join(lacks, ", ")
	if _, logged := s.warned.LoadOrStore(what, true); !logged {
		s.Log(mcp.Warning, logger, fmt.Sprintf("%s runs although this kernel cannot hold: %s (MCPBASH_CONFINE)",
			sub.Name, what))
	}
	return !k.None(), nil
}

type filesFunc func(*confine.Profile, *Subject, *guard)

// A madeProfile is a cached profile with its inputs. It is valid only for a moment, because its paths may lead to other
// files later, which the kernel would refuse.
type madeProfile struct {
	needs   access.Declaration
	roots   roots.List
	files   []string
	private string
	at      time.Time
	profile *confine.Profile
}

// profileTTL is the time for which profiles and guards are valid.
const profileTTL = time.Second

func (m *madeProfile) isValid(sub *Subject, private *privateDir) bool {
	return time.Since(m.at) < profileTTL && m.private == private.real && m.needs.Equal(&sub.Needs) &&
		slices.Equal(m.roots, sub.Roots) && slices.Equal(m.files, sub.Files)
}

func (s *Sandbox) profile(sub *Subject, private *privateDir, p confine.Profile,
	files filesFunc) (*confine.Profile, error) {
	if known := private.made.Load(); known != nil && known.isValid(sub, private) {
		return known.profile, nil
	}
	at := time.Now()
	if files == nil {
		p.Read, p.Write = []string{"/"}, slices.Clone(sub.Files)
	} else {
		g, err := s.guard(sub)
		if err != nil {
			return nil, err
		}
		files(&p, sub, g)
		at = g.made
	}
	p.Write = append(p.Write, private.real)
	p.Identify()
	private.made.Store(&madeProfile{sub.Needs, sub.Roots, sub.Files, private.real, at, &p})
	return &p, nil
}

// thread returns an existing or a new thread that is confined to a profile.
func (s *Sandbox) thread(sub *Subject, p *confine.Profile) (*script.Confined, error) {
	if sub.Observer != nil {
		return sub.Observer.Confine(s.Kernel(), p)
	}
	return s.Runner.Confine(s.Kernel(), p)
}

const logger = "mcp.tools"

// Apply sets the confined thread in the specification of a script.
func (h *Confinement) Apply(spec *script.Spec) {
	if h != nil {
		spec.Confined = h.Confined
	}
}

// Files returns the hand-off directories for the script: in its private directory, or free if it is not confined.
func (h *Confinement) Files(free *handoff.Pool) *handoff.Pool {
	if h == nil {
		return free
	}
	return h.private.files
}

// End calls Ended and Release.
func (h *Confinement) End() { h.Ended(); h.Release() }

// Ended releases the thread. Call it after the script has ended.
func (h *Confinement) Ended() {
	if h != nil {
		h.Confined.Release()
	}
}

// Release releases the private directory. Call it when no file in the directory is used any more.
func (h *Confinement) Release() {
	if h != nil {
		h.sandbox.private.give(h.private)
	}
}

// Report describes the mode and the restrictions that the kernel does not support:
// {"mode":"declared","landlock":7,"seccomp":true,"lacks":[]}.
func Report(mode access.Confinement, k confine.Kernel) json.RawMessage {
	var b rawjson.Builder
	return b.Object().Name("mode").String(mode.String()).Members(KernelReport(k)).End().Bytes()
}

// KernelReport is the part of [Report] about the kernel.
func KernelReport(k confine.Kernel) json.RawMessage {
	var b rawjson.Builder
	return b.Object().Name("landlock").Int(k.ABI).Name("seccomp").Bool(k.Filters).
		Name("lacks").Strings(k.Lacks(&confine.Profile{})).End().Bytes()
}

// A fileID identifies a file independently of its path.
type fileID struct{ dev, ino uint64 }

// A view caches lookups in the file system for one guard. It is safe for concurrent use.
type view struct {
	mounts mountTable

	mu   sync.Mutex
	seen map[string]fileStatus
}

type fileStatus struct {
	err  error // the lookup failed
	id   fileID
	mode fs.FileMode
	link string // the target of a symbolic link
}

func newView() (*view, error) {
	mounts, err := readMounts()
	return &view{mounts: mounts, seen: map[string]fileStatus{}}, err
}

// status returns the result of a lookup of a path whose folder contains no links.
func (v *view) status(path string) fileStatus {
	v.mu.Lock()
	defer v.mu.Unlock()
	s, known := v.seen[path]
	if !known {
		s = statusOf(path)
		v.seen[path] = s
	}
	return s
}

// identify returns the id of the file at a path. It does not follow a link.
func (v *view) identify(path string) (id fileID, ok bool) {
	s := v.status(path)
	return s.id, s.err == nil && s.id != fileID{}
}

// maxLinks is the maximum number of symbolic links in a path.
const maxLinks = 40

// follow resolves an absolute path. links are the paths of the links on the way. If the file does not
// exist, real is the path that it would have, and err the reason.
func (v *view) follow(path string) (real string, links []string, err error) {
	const separator = string(filepath.Separator)
	volume := filepath.VolumeName(path)
	real, path = volume+separator, path[len(volume):]
	for path != "" {
		name, rest, _ := strings.Cut(path, separator)
		switch name {
		case "", ".":
			path = rest
			continue
		case "..":
			real, path = filepath.Dir(real), rest
			continue
		}
		next := filepath.Join(real, name)
		at := v.status(next)
		switch {
		case at.err != nil:
			return filepath.Join(next, rest), links, at.err
		case at.mode&fs.ModeSymlink == 0:
			real, path = next, rest
			continue
		case len(links) == maxLinks:
			return filepath.Join(next, rest), links, &fs.PathError{Op: "follow", Path: next, Err: fs.ErrInvalid}
		}
		links = append(links, next)
		volume := filepath.VolumeName(at.link)
		if filepath.IsAbs(at.link) {
			real = volume + separator
		}
		path = at.link[len(volume):] + separator + rest
	}
	return real, links, nil
}
