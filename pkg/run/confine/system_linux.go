package confine

import (
	"slices"
	"strings"
)

// programs are directories of system programs, which scripts with Process may read and start (CF-15).
var programs = []string{"/usr", "/bin", "/sbin", "/opt", "/snap", "/home/linuxbrew/.linuxbrew"}

// libraries may be read by every confined script (CF-10).
var libraries = []string{
	"/lib", "/lib32", "/lib64", "/libx32", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/share",
	"/usr/local/lib", "/usr/local/lib64", "/usr/local/share",
}

// stores contain programs and libraries together. Every confined script may read and start them.
var stores = []string{"/nix/store", "/gnu/store"}

// loaders start dynamically linked programs, so every confined script may start them.
var loaders = []string{
	"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-x86_64.so.1", "/lib/ld-musl-aarch64.so.1",
	"/lib/ld-linux.so.2", "/lib/ld-linux-armhf.so.3",
}

// settings may be read by every confined script, because programs read them implicitly. They
// include no secrets such as host keys and password hashes.
var settings = []string{
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/ld-musl-x86_64.path",
	"/etc/ld-musl-aarch64.path",
	"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts", "/etc/hostname", "/etc/host.conf",
	"/etc/resolv.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols", "/etc/networks", "/run/systemd/resolve",
	"/etc/localtime", "/etc/timezone", "/etc/adjtime", "/etc/locale.conf", "/etc/locale.alias", "/etc/default/locale",
	"/etc/os-release", "/etc/lsb-release", "/etc/debian_version", "/etc/alpine-release", "/etc/redhat-release",
	"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ssl/cert.pem", "/etc/ca-certificates", "/etc/ca-certificates.conf",
	"/etc/pki/tls/certs", "/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust", "/etc/crypto-policies",
	"/etc/alternatives", "/etc/mime.types", "/etc/magic", "/etc/terminfo", "/etc/inputrc", "/etc/profile",
	"/etc/profile.d", "/etc/bash.bashrc", "/etc/bashrc", "/etc/shells", "/etc/login.defs", "/etc/environment",
	"/etc/gitconfig", "/etc/fonts", "/etc/perl", "/etc/python3", "/etc/papersize", "/etc/ImageMagick-6",
	"/etc/ImageMagick-7", "/etc/mke2fs.conf", "/etc/wgetrc", "/etc/curlrc",
	"/proc", "/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/fs/cgroup",
	"/sys/kernel/mm/transparent_hugepage", "/dev/urandom", "/dev/random",
}

// devices may be read and written by every confined script.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full"}

// IsSystem reports whether a program belongs to the system, whose libraries every script can read.
func IsSystem(path string) bool {
	return slices.ContainsFunc(slices.Concat(programs, stores), func(dir string) bool {
		return path == dir || strings.HasPrefix(path, dir+"/")
	})
}
