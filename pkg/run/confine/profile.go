package confine

import "errors"

// A Profile says what may be done. What it does not name is refused, except what
// every program needs: the system's libraries, and a few of its settings and
// devices (CF-10).
type Profile struct {
	// Programs may be read and started: files, or directories with all below. Read may be
	// read, Write may also be changed. Links on the way are not followed: one that was put
	// there since a path was resolved leads to nothing (CF-13).
	Programs, Read, Write []string
	// List are directories of which, and below which, names may be listed.
	List []string
	// Connect are TCP ports that may be connected to. With the one of DNS, UDP is open too.
	Connect []uint16

	AllFiles bool // of files only writing and the start of programs are confined
	Modes    bool // modes and owners of files may be changed, of all that the user has (CF-24)
	Network  bool // TCP and UDP, of all ports
	// Process allows to start what may be read, the system's programs among it, and to talk to
	// Unix sockets where Network is allowed.
	Process bool

	key string // see Identify
}

// portDNS is the port of the domain name system.
const portDNS = 53

// Identify finds out which files the profile is about now. From then on [Profile.Key] looks at
// none, and the profile is not to be changed.
func (p *Profile) Identify() { p.key = p.Key() }

// A Kernel is what the running kernel offers.
type Kernel struct {
	ABI     int  // of Landlock, 0 for none
	Signals bool // threads of one process can still signal each other when signals are confined
	Filters bool // seccomp
}

// The ABIs of Landlock in which something was added.
const (
	abiFiles    = 1
	abiRefer    = 2
	abiTruncate = 3
	abiTCP      = 4
	abiDevices  = 5
	abiScopes   = 6
)

// ABIWhole is the ABI of Landlock from which everything can be held (CF-30).
const ABIWhole = abiScopes

// Lacks returns what the kernel cannot hold of a profile, in plain words, nil when it
// can hold all of it (CF-30).
func (k Kernel) Lacks(p *Profile) []string {
	var lacks []string
	add := func(missing bool, what string) {
		if missing {
			lacks = append(lacks, what)
		}
	}
	canMove := !p.AllFiles || !p.Process || k.ABI >= abiRefer // else nothing is confined, so that files can be moved
	add(k.ABI < abiFiles || !canMove, "files")
	add(!p.AllFiles && k.ABI >= abiFiles && k.ABI < abiTruncate, "truncating files")
	add(!k.Filters, "system calls")
	add(!p.Network && !k.Filters, "network")
	add(!p.Network && len(p.Connect) > 0 && k.ABI < abiTCP, "ports")
	add(!k.scopesSignals(), "signals")
	add(!canMove, "tracing")
	return lacks
}

// None reports whether the kernel can hold nothing of any profile.
func (k Kernel) None() bool { return k.ABI < abiFiles && !k.Filters }

func (k Kernel) scopesSignals() bool { return k.ABI >= abiScopes && k.Signals }

// errNotAvailable is the error where no system call confines anything.
var errNotAvailable = errors.New("this system cannot confine scripts; it takes Linux with Landlock")
