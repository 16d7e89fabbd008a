// Package confine limits a thread, and all processes that it forks, to a profile. A Landlock domain
// controls files. A seccomp filter controls sockets and operations that Landlock does not cover.
// The package knows nothing about scripts and projects.
//
// Both mechanisms belong to a thread and are inherited, so no helper process is needed. A thread is confined once, and
// forks every script of that profile. The process itself stays unconfined, with two exceptions: it can no longer be
// traced, and the confined thread cannot be signalled. Otherwise scripts could reach the process through the thread,
// which is in their domain.
package confine

import "errors"

// A Profile defines permitted operations. Everything else is refused, except the needs of every program: the system's
// libraries, and some of its settings and devices.
type Profile struct {
	// Files, or directories with their content. Programs may be read and started, Read may be read, and Write may be
	// read and changed. Symbolic links on these paths are not followed, so a link that is created later has no effect.
	Programs, Read, Write []string
	// List are directories whose entries, at any depth, may be listed.
	List []string
	// Connect has permitted TCP ports. The DNS port also permits UDP.
	Connect []uint16

	AllFiles bool // all files may be read; writing and starting programs stay limited
	Modes    bool // modes and owners of all files of the user may be changed
	Network  bool // TCP and UDP on all ports
	// Process permits starting all readable programs, including those of the system. With Network
	// it also permits Unix sockets.
	Process bool

	key string // set by Identify
}

const portDNS = 53

// Identify stores the key for the current files. Afterwards [Profile.Key] reads no files, and the
// profile must not change.
func (p *Profile) Identify() { p.key = p.Key() }

// A Kernel describes the features of the running kernel.
type Kernel struct {
	ABI     int  // ABI of Landlock, or 0
	Signals bool // threads of one process can signal each other when signals are confined
	Filters bool // seccomp filters
}

// Landlock ABIs with new features.
const (
	abiFiles    = 1
	abiRefer    = 2
	abiTruncate = 3
	abiTCP      = 4
	abiDevices  = 5
	abiScopes   = 6
)

// ABIWhole is the Landlock ABI that supports all features of profiles.
const ABIWhole = abiScopes

// Lacks returns the features of a profile that the kernel does not support, or nil.
func (k Kernel) Lacks(p *Profile) []string {
	var lacks []string
	add := func(missing bool, what string) {
		if missing {
			lacks = append(lacks, what)
		}
	}
	canMove := !p.AllFiles || !p.Process || k.ABI >= abiRefer // otherwise no domain controls moves
	add(k.ABI < abiFiles || !canMove, "files")
	add(!p.AllFiles && k.ABI >= abiFiles && k.ABI < abiTruncate, "truncating files")
	add(!k.Filters, "system calls")
	add(!p.Network && !k.Filters, "network")
	add(!p.Network && len(p.Connect) > 0 && k.ABI < abiTCP, "ports")
	add(!k.scopesSignals(), "signals")
	add(!canMove, "tracing")
	return lacks
}

// None reports whether the kernel supports no part of any profile.
func (k Kernel) None() bool { return k.ABI < abiFiles && !k.Filters }

func (k Kernel) scopesSignals() bool { return k.ABI >= abiScopes && k.Signals }

// errNotAvailable is the error on systems without confinement.
var errNotAvailable = errors.New("confining scripts needs Linux with Landlock")
