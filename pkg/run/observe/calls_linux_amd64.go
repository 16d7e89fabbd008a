package observe

import "golang.org/x/sys/unix"

const legacyOpen = uintptr(unix.SYS_OPEN)

// legacy are calls that newer processors lack.
var legacy = map[uintptr]inspector{
	unix.SYS_OPEN: func(c *call, _ bool) { c.open(atCWD, c.Arguments[0], c.Arguments[1]) },
	unix.SYS_CREAT: func(c *call, _ bool) {
		c.open(atCWD, c.Arguments[0], unix.O_CREAT|unix.O_WRONLY|unix.O_TRUNC)
	},
	unix.SYS_MKDIR:   func(c *call, _ bool) { c.make(atCWD, c.Arguments[0], Directory) },
	unix.SYS_MKNOD:   func(c *call, _ bool) { c.make(atCWD, c.Arguments[0], "") },
	unix.SYS_SYMLINK: func(c *call, _ bool) { c.make(atCWD, c.Arguments[1], "") },
	unix.SYS_UNLINK:  func(c *call, _ bool) { c.remove(atCWD, c.Arguments[0]) },
	unix.SYS_RMDIR:   func(c *call, _ bool) { c.remove(atCWD, c.Arguments[0]) },
	unix.SYS_RENAME:  func(c *call, _ bool) { c.move(atCWD, c.Arguments[0], atCWD, c.Arguments[1]) },
	unix.SYS_LINK:    func(c *call, _ bool) { c.link(atCWD, c.Arguments[0], atCWD, c.Arguments[1], 0) },
	unix.SYS_CHMOD:   func(c *call, refused bool) { c.modes(atCWD, c.Arguments[0], refused) },
	unix.SYS_CHOWN:   func(c *call, refused bool) { c.modes(atCWD, c.Arguments[0], refused) },
	unix.SYS_LCHOWN:  func(c *call, refused bool) { c.modes(atCWD, c.Arguments[0], refused) },
	unix.SYS_INOTIFY_INIT: func(c *call, refused bool) {
		if refused {
			c.add(Access{Kind: Call, Name: callName(unix.SYS_INOTIFY_INIT1)})
		}
	},
}
