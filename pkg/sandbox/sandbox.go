package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/confine"
	"mcp-bash/pkg/handoff"
	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/roots"
	"mcp-bash/pkg/script"
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
}

// A Sandbox holds the scripts of one project to what they may do. It may be used from any
// goroutine; nil confines nothing.
type Sandbox struct {
	Config
	system  systemPaths
	private privateDirs
	found   sync.Map // what a declaration's paths stand for, by script; see extraPaths
	warned  sync.Map // what was said once that the kernel cannot hold
}

// New returns the sandbox of a project.
func New(c Config) *Sandbox { return &Sandbox{Config: c, system: findSystem(c.Project, c.Common)} }

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
		return s.hold(sub, s.toolProfile)
	}
	if s == nil || !s.Mode.Declared || !sub.Needs.Given && !s.Mode.All {
		return nil, nil
	}
	return s.hold(sub, s.toolProfile)
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
	return s.hold(sub, s.toolProfile)
}

// HoldHook confines the project's policy or its register.sh: with the mode "all", to changing
// nothing (CF-29).
func (s *Sandbox) HoldHook(sub *Subject) (*Hold, error) {
	if s == nil || !s.Mode.All {
		return nil, nil
	}
	return s.hold(sub, func(sub *Subject, _ *privateDir) *confine.Profile {
		return &confine.Profile{Read: []string{"/"}, Write: sub.Files, Network: true, Process: true}
	})
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

func (s *Sandbox) hold(sub *Subject, profile func(*Subject, *privateDir) *confine.Profile) (*Hold, error) {
	private, err := s.private.take(s.State, sub.Script)
	if err != nil {
		return nil, err
	}
	p := s.profile(sub, private, profile)
	h := &Hold{Files: private.files, Profile: p, sandbox: s, private: private}
	switch h.Confined, err = s.confine(sub, p); {
	case err != nil:
		h.Release()
		return nil, err
	case h.Confined == nil:
		h.Release()
		return nil, nil
	}
	return h, nil
}

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
func (s *Sandbox) profile(sub *Subject, private *privateDir,
	create func(*Subject, *privateDir) *confine.Profile) *confine.Profile {
	if known := private.made.Load(); known != nil && known.serves(sub, private) {
		return known.profile
	}
	p := create(sub, private)
	p.Write = append(p.Write, private.real)
	p.Identify()
	private.made.Store(&madeProfile{sub.Needs, sub.Roots, sub.Files, private.real, time.Now(), p})
	return p
}

// confine finds or makes the confinement of a profile. It is nil where the kernel can hold
// nothing and that is not required.
func (s *Sandbox) confine(sub *Subject, p *confine.Profile) (*script.Confined, error) {
	k := s.Kernel()
	if lacks := k.Lacks(p); len(lacks) > 0 && !sub.learns() {
		if s.Mode.Required {
			return nil, &Unconfinable{lacks}
		}
		what := strings.Join(lacks, ", ")
		if _, said := s.warned.LoadOrStore(what, true); !said {
			s.Log(mcp.Warning, logger, fmt.Sprintf("%s runs although this kernel cannot hold: %s (MCPBASH_CONFINE)",
				sub.Name, what))
		}
		if k.None() {
			return nil, nil
		}
	}
	if sub.Observer != nil {
		return sub.Observer.Hold(k, p)
	}
	held, err := s.Runner.Confine(k, p)
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
