package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/wire/mcp"
)

// A Config is what a sandbox is made of.
type Config struct {
	Project *project.Project
	Mode    access.Confinement
	Kernel  func() confine.Kernel // what the kernel can hold
	Runner  *script.Runner
	Common  project.Env // what every script is given
	State   *project.State
	Log     mcp.LogFunc
	// Listed returns the scripts that the registry lists, and those of entries that it left out. They are
	// code, and so are the programs that they start (CF-14). nil: there are none.
	Listed func() ([]Listed, error)
	// Sourced are files that the operator had sourced.
	Sourced []string
}

// A Sandbox holds the scripts of one project to what they may do. It may be used from any
// goroutine; nil confines nothing.
type Sandbox struct {
	Config
	system  systemPaths
	private privateDirs
	found   sync.Map // what the paths of declarations stand for; see declaredFile
	warned  sync.Map // what was logged once

	guarding sync.Mutex
	seen     seen
	guarded  *guard // the last one, nil at first
}

// New returns the sandbox of a project.
func New(c Config) *Sandbox {
	return &Sandbox{Config: c, system: findSystem(c.Project, c.State, c.Common, c.Sourced)}
}

// A Subject is a script that is about to run.
type Subject struct {
	Name   string // for people, such as "Tool 'x'"
	Script string // absolute path
	Argv   []string
	Needs  access.Declaration
	Roots  roots.List
	Files  []string // of ours that it may write to beside its private directory

	Observer Observer // nil: nobody observes what it does
}

// key names the tool, or the script of another kind: several tools can share a script.
func (sub *Subject) key() string { return sub.Name + "\x00" + sub.Script }

// An Observer sees what a script does (CF-50).
type Observer interface {
	// Learns reports whether the script is not to be held to anything, and is to be observed for what
	// one that declares nothing may not do.
	Learns() bool
	// Hold returns what the script is started in: held to the profile, unless the observer learns. It is
	// not called for a script that would not be confined anyway.
	Hold(k confine.Kernel, p *confine.Profile) (*script.Confined, error)
}

// A Hold is a script's confinement, its private directory among it. The nil Hold confines
// nothing.
type Hold struct {
	Confined *script.Confined
	Files    *handoff.Pool // hand-off directories in the private directory
	Profile  *confine.Profile

	sandbox *Sandbox
	private *privateDir
}

// An Unconfinable is the error for a script of which the kernel cannot hold something,
// where that is required (CF-30).
type Unconfinable struct{ Lacks []string }

func (e *Unconfinable) Error() string {
	return fmt.Sprintf("this kernel cannot hold: %s; MCPBASH_CONFINE without \"required\" runs it all the same",
		strings.Join(e.Lacks, ", "))
}

// Hold confines a tool, if the mode asks for that. The nil Hold is for one that runs as it
// is. The error is an [*Unconfinable], or why a confinement could not be made; then the
// script must not run, in whatever mode: who can bring about a fault must not get out by it
// (CF-4).
func (s *Sandbox) Hold(sub *Subject) (*Hold, error) {
	if sub.learns() {
		sub.Needs = access.Declaration{Given: true}
		return s.hold(sub, toolProfile(&sub.Needs), s.toolFiles)
	}
	if s == nil || !s.confines(&sub.Needs) {
		return nil, nil
	}
	return s.hold(sub, toolProfile(&sub.Needs), s.toolFiles)
}

// confines reports whether a tool is confined.
func (s *Sandbox) confines(needs *access.Declaration) bool {
	return s.Mode.Declared && (needs.Given || s.Mode.All)
}

func (sub *Subject) learns() bool { return sub.Observer != nil && sub.Observer.Learns() }

// HoldProvider confines a completion script or a resource provider, which declare nothing: with
// the mode "all", to looking things up in the project and, with network, elsewhere (CF-28).
func (s *Sandbox) HoldProvider(sub *Subject, network bool) (*Hold, error) {
	if s == nil || !s.Mode.All {
		return nil, nil
	}
	sub.Needs = access.Declaration{Given: true, Capabilities: []access.Capability{access.Search, access.Process}}
	if network {
		sub.Needs.Capabilities = append(sub.Needs.Capabilities, access.Network)
	}
	return s.hold(sub, toolProfile(&sub.Needs), s.toolFiles)
}

// HoldHook confines the project's policy or its register.sh: with the mode "all", to changing
// nothing (CF-29).
func (s *Sandbox) HoldHook(sub *Subject) (*Hold, error) {
	if s == nil || !s.Mode.All {
		return nil, nil
	}
	return s.hold(sub, confine.Profile{Network: true, Process: true}, nil)
}

// Hook returns what confines a hook, given its file, for those who run it: release is to be
// called when it has ended.
func (s *Sandbox) Hook(file string) script.ConfineFunc {
	return func(spec *script.Spec, files ...string) (release func(), err error) {
		h, err := s.HoldHook(&Subject{Name: filepath.Base(file), Script: file, Files: files})
		if err != nil {
			return nil, err
		}
		h.Apply(spec)
		return h.End, nil
	}
}

// hold confines a script to a profile. files puts the files that it may use into the profile; nil: it
// reads all files and writes its own.
func (s *Sandbox) hold(sub *Subject, p confine.Profile, files filesFunc) (*Hold, error) {
	if run, err := s.canHold(sub, &p); !run || err != nil {
		return nil, err
	}
	private, err := s.private.take(s.State, sub.key())
	if err != nil {
		return nil, err
	}
	h := &Hold{Files: private.files, sandbox: s, private: private}
	if h.Profile, err = s.profile(sub, private, p, files); err == nil {
		h.Confined, err = s.confine(sub, h.Profile)
	}
	if err != nil {
		h.Release()
		return nil, err
	}
	return h, nil
}

// canHold reports whether the kernel can enforce any of a profile. Where the mode requires all of it, the
// error names the rest; otherwise a warning does.
func (s *Sandbox) canHold(sub *Subject, p *confine.Profile) (bool, error) {
	k := s.Kernel()
	lacks := k.Lacks(p)
	if len(lacks) == 0 || sub.learns() {
		return true, nil
	}
	if s.Mode.Required {
		return false, &Unconfinable{lacks}
	}
	what := strings.Join(lacks, ", ")
	if _, said := s.warned.LoadOrStore(what, true); !said {
		s.Log(mcp.Warning, logger, fmt.Sprintf("%s runs although this kernel cannot hold: %s (MCPBASH_CONFINE)",
			sub.Name, what))
	}
	return !k.None(), nil
}

// A filesFunc puts the files that a script may use into a profile.
type filesFunc func(*confine.Profile, *Subject, *guard)

// A madeProfile is a profile, for the same subject. It is made anew after a moment, as what it
// names may be replaced by other files, which the kernel would refuse (CF-16).
type madeProfile struct {
	needs   access.Declaration
	roots   roots.List
	files   []string
	private string
	at      time.Time
	profile *confine.Profile
}

const profileHolds = time.Second

func (m *madeProfile) serves(sub *Subject, private *privateDir) bool {
	return time.Since(m.at) < profileHolds && m.private == private.real && m.needs.Equal(&sub.Needs) &&
		slices.Equal(m.roots, sub.Roots) && slices.Equal(m.files, sub.Files)
}

// profile returns what a script is held to.
func (s *Sandbox) profile(sub *Subject, private *privateDir, p confine.Profile,
	files filesFunc) (*confine.Profile, error) {
	if known := private.made.Load(); known != nil && known.serves(sub, private) {
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

// confine finds or makes the confinement of a profile.
func (s *Sandbox) confine(sub *Subject, p *confine.Profile) (*script.Confined, error) {
	if sub.Observer != nil {
		return sub.Observer.Hold(s.Kernel(), p)
	}
	held, err := s.Runner.Confine(s.Kernel(), p)
	if err != nil {
		return nil, fmt.Errorf("cannot be confined: %w", err)
	}
	return held, nil
}

const logger = "mcp.tools"

// Apply has what is to be started run confined, with a temporary directory of its own.
func (h *Hold) Apply(spec *script.Spec) {
	if h == nil {
		return
	}
	spec.Confined = h.Confined
	spec.Env = project.Override(spec.Env, "TMPDIR", filepath.Join(h.private.dir, tempName))
}

// Root returns the private directory and its path.
func (h *Hold) Root() (*os.Root, string) { return h.private.root, h.private.dir }

// End is Ended and Release at once.
func (h *Hold) End() { h.Ended(); h.Release() }

// Ended says that the script has ended.
func (h *Hold) Ended() {
	if h != nil {
		h.Confined.Release()
	}
}

// Release gives the private directory back. Nothing in it is used any more.
func (h *Hold) Release() {
	if h != nil {
		h.sandbox.private.give(h.private)
	}
}
