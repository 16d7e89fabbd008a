package confine

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/files/folder"
)

// system has the system calls that confine a thread. Tests replace them to simulate failures.
var system = calls{
	dumpable:      func() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) },
	hasCapability: hasCapability,
	drop:          func(c int) error { return unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0) },
	disinherit:    disinherit,
	noNewPrivs:    func() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) },
	createRuleset: createRuleset,
	open:          openPath,
	stat:          unix.Fstat,
	addRule:       addRule,
	addPort:       addPort,
	restrictSelf:  restrictSelf,
	setFilter:     setFilter,
	listen:        listenTo,
}

type calls struct {
	dumpable      func() error
	hasCapability func(c int) bool
	drop          func(c int) error
	disinherit    func() error
	noNewPrivs    func() error
	createRuleset func(*unix.LandlockRulesetAttr) (fd int, err error)
	open          func(path string, follow bool) (fd int, err error)
	stat          func(fd int, st *unix.Stat_t) error
	addRule       func(ruleset, dir int, rights uint64) error
	addPort       func(ruleset int, port uint16) error
	restrictSelf  func(ruleset int) error
	setFilter     func(program []unix.SockFilter) error
	listen        func(program []unix.SockFilter) (listener int, err error)
}

// Offered returns the features of the running kernel. It checks once.
var Offered = sync.OnceValue(func() Kernel {
	var k Kernel
	if abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0,
		unix.LANDLOCK_CREATE_RULESET_VERSION); errno == 0 {
		k.ABI = int(abi)
	}
	// Without this fix, a confined thread could not signal its sibling threads, as Go's runtime must.
	const repaired = 1 << 1
	if errata, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0,
		unix.LANDLOCK_CREATE_RULESET_ERRATA); errno == 0 {
		k.Signals = errata&repaired != 0
	}
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0,
		uintptr(unsafe.Pointer(&action)))
	k.Filters = errno == 0 && auditArch != 0
	return k
})

// Key identifies a profile. Profiles have different keys if their paths refer to other files,
// because a domain knows files and not names.
func (p *Profile) Key() string {
	if p.key != "" {
		return p.key
	}
	b := make([]byte, 0, 2048)
	for _, allowed := range []bool{p.AllFiles, p.Modes, p.Network, p.Process} {
		b = strconv.AppendBool(b, allowed)
	}
	for _, port := range p.Connect {
		b = append(strconv.AppendUint(b, uint64(port), 10), ',')
	}
	for _, list := range [][]string{p.Programs, p.List, p.Read, p.Write} {
		b = append(b, '\n')
		for _, path := range list {
			var st unix.Stat_t
			unix.Lstat(path, &st) // zero for a missing file
			b = append(strconv.AppendUint(strconv.AppendUint(b, st.Dev, 36), st.Ino, 36), path...)
			b = append(b, 0)
		}
	}
	return string(b)
}

// Enter confines the calling thread until it ends. The caller must lock its goroutine to the thread before. After an
// error, it must end the thread, which may be partly confined. The thread must not be the first of the process, which
// represents the process.
func (k Kernel) Enter(p *Profile) error {
	if k.None() {
		return errNotAvailable
	}
	if err := k.beforeFilter(p); err != nil || !k.Filters {
		return err
	}
	if err := k.enterFilter(p); err != nil {
		return fmt.Errorf("seccomp filter: %w", err)
	}
	return nil
}

// enterFilter installs the filter of a profile. A profile without Modes gets a listener, which
// decides about changes of modes. If the kernel, or a filter around this process, permits no
// listener, the filter refuses these changes.
func (k Kernel) enterFilter(p *Profile) error {
	// Kernels with Landlock notify a listener when its last thread ends.
	if !p.AllFiles && !p.Modes && k.ABI >= abiFiles {
		program, err := assemble(p, unix.Gettid(), nil, true)
		if err != nil {
			return err
		}
		if listener, err := system.listen(program); err == nil {
			go serveModes(listener)
			return nil
		}
	}
	program, err := assemble(p, unix.Gettid(), nil, false)
	if err != nil {
		return err
	}
	return system.setFilter(program)
}

// beforeFilter makes all steps of [Kernel.Enter] before the filter.
func (k Kernel) beforeFilter(p *Profile) error {
	if err := enterable(); err != nil {
		return err
	}
	if err := system.shield(); err != nil {
		return err
	}
	return k.enterDomain(p)
}

// OnThread runs a function on a new thread, which ends with the function. This is never the first thread, which
// represents the process and cannot end. OnThread does not wait.
func OnThread(do func()) {
	go func() {
		runtime.LockOSThread() // Go ends the thread when a goroutine that is locked to it returns
		if unix.Gettid() != os.Getpid() {
			do()
			return
		}
		// While this goroutine is locked to the first thread, the next goroutine gets another thread.
		next := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(next)
			do()
		}()
		<-next
		runtime.UnlockOSThread()
	}()
}

// enterable prepares the calling thread for a filter.
func enterable() error {
	if unix.Gettid() == os.Getpid() {
		return errors.New("the first thread of a process is not confined")
	}
	if err := system.noNewPrivs(); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	return nil
}

// shield prevents scripts from accessing this process through the thread in their domain, and from using root's
// capabilities other than for files.
func (s *calls) shield() error {
	if err := s.dumpable(); err != nil {
		return fmt.Errorf("dumpable: %w", err)
	}
	for c := 0; c <= unix.CAP_LAST_CAP; c++ {
		if keptCapability(c) || !s.hasCapability(c) {
			continue
		}
		// A user who cannot drop capabilities cannot gain any by starting a program, except root in
		// unusual environments.
		root := os.Geteuid() == 0 || os.Getuid() == 0
		if err := s.drop(c); err != nil && (root || !errors.Is(err, unix.EPERM)) {
			return fmt.Errorf("capability %d: %w", c, err)
		}
	}
	if err := s.disinherit(); err != nil {
		return fmt.Errorf("inheritable capabilities: %w", err)
	}
	return nil
}

// disinherit clears the inheritable capabilities of the calling thread, which programs would
// otherwise get. The kernel clears the ambient ones with them.
func disinherit() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return err
	}
	sets[0].Inheritable, sets[1].Inheritable = 0, 0
	return unix.Capset(&header, &sets[0])
}

// keptCapability reports whether root keeps a capability when confined: those for owners and modes
// of files, and for switching to a user with fewer rights.
func keptCapability(c int) bool {
	switch c {
	case unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_SETGID, unix.CAP_SETUID,
		unix.CAP_NET_BIND_SERVICE, unix.CAP_KILL:
		return true
	}
	return false
}

// Rights of Landlock.
const (
	mayRead    = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	mayExecute = unix.LANDLOCK_ACCESS_FS_EXECUTE
	mayWrite   = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	ofFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	first = 1<<13 - 1 // rights of the first ABI
)

// handled returns the rights that a domain controls on this kernel. Even an empty domain prevents a
// thread from tracing others, so every profile gets a domain if possible.
func (k Kernel) handled(p *Profile) unix.LandlockRulesetAttr {
	var a unix.LandlockRulesetAttr
	switch {
	case k.ABI < abiFiles:
	case !p.AllFiles:
		a.Handled_access_fs = first
	case !p.Process || k.ABI >= abiRefer:
		a.Handled_access_fs = mayWrite & first
		if !p.Process {
			a.Handled_access_fs |= mayExecute
		}
	}
	if a.Handled_access_fs != 0 && k.ABI >= abiRefer { // without it, the kernel refuses moves across directories
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if k.ABI >= abiTruncate {
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if !p.AllFiles && k.ABI >= abiDevices {
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if !p.Network && k.ABI >= abiTCP {
		a.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if k.scopesSignals() {
		a.Scoped |= unix.LANDLOCK_SCOPE_SIGNAL
	}
	if !(p.Network && p.Process) && k.ABI >= abiScopes {
		a.Scoped |= unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	return a
}

type group struct {
	paths  []string
	rights uint64
	follow bool
}

// groups returns the rights of a profile. The caller removes rights that the domain does not control.
func (p *Profile) groups() []group {
	const read, run = mayRead, mayRead | mayExecute
	start, own := uint64(0), paths()
	list := []group{
		{own["libraries"], read, true}, {own["settings"], read, true},
		{own["devices"], read | unix.LANDLOCK_ACCESS_FS_WRITE_FILE, true},
		{own["loaders"], run, true}, {own["stores"], run, true}, {p.Programs, run, false},
	}
	if p.Process {
		start = mayExecute
		list = append(list, group{own["programs"], run, true}, group{own["libraries"], run, true})
	}
	if p.AllFiles { // writing is limited to p.Write, starting programs is limited to readable files
		list = append(list, group{[]string{"/"}, read | start, true})
	}
	return append(list, group{p.List, unix.LANDLOCK_ACCESS_FS_READ_DIR, false},
		group{p.Read, read | start, false}, group{p.Write, read | mayWrite | start, false})
}

func (k Kernel) enterDomain(p *Profile) error {
	attr := k.handled(p)
	if attr == (unix.LandlockRulesetAttr{}) {
		return nil
	}
	ruleset, err := system.createRuleset(&attr)
	if err != nil {
		return fmt.Errorf("landlock ruleset: %w", err)
	}
	defer unix.Close(ruleset)
	err = p.eachRule(attr.Handled_access_fs, func(fd int, _ *unix.Stat_t, rights uint64) error {
		return system.addRule(ruleset, fd, rights)
	})
	if err != nil {
		return err
	}
	if attr.Handled_access_net != 0 {
		for _, port := range p.Connect {
			if err := system.addPort(ruleset, port); err != nil {
				return fmt.Errorf("landlock rule for port %d: %w", port, err)
			}
		}
	}
	if err := system.restrictSelf(ruleset); err != nil {
		return fmt.Errorf("landlock domain: %w", err)
	}
	return nil
}

// eachRule calls add for each file to which a profile grants handled rights.
func (p *Profile) eachRule(handled uint64, add addFunc) error {
	for _, g := range p.groups() {
		rights := g.rights & handled
		if rights == 0 {
			continue
		}
		for _, path := range g.paths {
			if err := allow(path, rights, g.follow, add); err != nil {
				return fmt.Errorf("landlock rule for %s: %w", path, err)
			}
		}
	}
	return nil
}

type addFunc func(fd int, st *unix.Stat_t, rights uint64) error

// allow grants rights to a file, or to a directory and its content. Missing and inaccessible files need no rule.
func allow(path string, rights uint64, follow bool, add addFunc) error {
	fd, err := system.open(path, follow)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.EACCES),
		errors.Is(err, unix.ELOOP):
		return nil
	case err != nil:
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := system.stat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		if rights &= ofFiles; rights == 0 {
			return nil
		}
	}
	return add(fd, &st, rights)
}

// openPath opens a file for a rule. Unless follow is true, its path contains no links.
func openPath(path string, follow bool) (fd int, err error) {
	if follow {
		return unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	}
	return folder.OpenStraight(path, unix.O_PATH)
}

func hasCapability(c int) bool {
	has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, uintptr(c), 0, 0, 0)
	return err == nil && has == 1
}

func createRuleset(attr *unix.LandlockRulesetAttr) (int, error) {
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(attr)),
		unsafe.Sizeof(*attr), 0)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

func addRule(ruleset, dir int, rights uint64) error {
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(dir)}
	return result(unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0))
}

const ruleNetPort = 2 // LANDLOCK_RULE_NET_PORT

func addPort(ruleset int, port uint16) error {
	attr := struct{ access, port uint64 }{unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, uint64(port)} // landlock_net_port_attr
	return result(unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), ruleNetPort,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0))
}

func restrictSelf(ruleset int) error {
	return result(unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0))
}

func setFilter(program []unix.SockFilter) error {
	p := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	return result(unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW,
		uintptr(unsafe.Pointer(&p))))
}

func result(_, _ uintptr, errno unix.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}

//go:embed paths.txt
var pathsText string

// paths returns the lists of paths.txt, by their names. Such files need no declaration.
var paths = sync.OnceValue(func() map[string][]string {
	lists, name := map[string][]string{}, ""
	for line := range strings.Lines(pathsText) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "["):
			name = strings.Trim(line, "[]")
		case !strings.HasPrefix(line, "#"):
			lists[name] = append(lists[name], strings.Fields(line)...)
		}
	}
	return lists
})

// IsSystem reports whether a program belongs to the system, whose libraries every script can read.
func IsSystem(path string) bool {
	return slices.ContainsFunc(slices.Concat(paths()["programs"], paths()["stores"]), func(dir string) bool {
		return path == dir || strings.HasPrefix(path, dir+"/")
	})
}
