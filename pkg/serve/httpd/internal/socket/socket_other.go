//go:build !linux

package socket

import "net"

// maxPath is the maximum length of the path of a socket: macOS has 104 bytes, the last of which is 0. Windows has more.
const maxPath = 103

const shortcut = ""

func listening(net.Conn) string { return "" }
