//go:build ignore

// Command loopback brings the loopback interface up, which nothing in the small Debian does.
package main

import (
	"log"

	"golang.org/x/sys/unix"
)

func main() {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		log.Fatal(err)
	}
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		log.Fatal(err)
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		log.Fatal(err)
	}
}
