package debian

// PackageOf returns the package that contains a program. Most packages have the name of their program.
func PackageOf(program string) string {
	if name, ok := packages()[program]; ok {
		return name
	}
	return program
}

// packages returns the packages whose name is not that of their program.
func packages() map[string]string {
	return map[string]string{
		"7z": "7zip", "awk": "mawk", "aws": "awscli", "basename": "coreutils", "cat": "coreutils", "cmp": "diffutils",
		"column": "bsdextrautils", "comm": "coreutils", "convert": "imagemagick", "cut": "coreutils", "date": "coreutils",
		"df": "coreutils", "diff": "diffutils", "dig": "bind9-dnsutils", "dirname": "coreutils", "du": "coreutils",
		"env": "coreutils", "envsubst": "gettext-base", "expand": "coreutils", "fdfind": "fd-find", "ffprobe": "ffmpeg",
		"find": "findutils", "flock": "util-linux", "fold": "coreutils", "free": "procps", "getopt": "util-linux",
		"gpg": "gnupg", "gs": "ghostscript", "gunzip": "gzip", "head": "coreutils", "hexdump": "bsdextrautils",
		"host": "bind9-host", "identify": "imagemagick", "ip": "iproute2", "iostat": "sysstat",
		"kill": "procps", "killall": "psmisc", "ls": "coreutils", "lscpu": "util-linux", "lsblk": "util-linux",
		"magick": "imagemagick", "md5sum": "coreutils", "mktemp": "coreutils", "mysql": "default-mysql-client",
		"nc": "netcat-openbsd", "node": "nodejs", "nslookup": "bind9-dnsutils", "numfmt": "coreutils", "od": "coreutils",
		"paste": "coreutils", "pdfinfo": "poppler-utils", "pdftotext": "poppler-utils", "pdftoppm": "poppler-utils",
		"pgrep": "procps", "ping": "iputils-ping", "pip": "python3-pip", "pip3": "python3-pip", "pkill": "procps",
		"printf": "coreutils", "ps": "procps", "psql": "postgresql-client", "python": "python-is-python3",
		"readlink": "coreutils", "realpath": "coreutils", "redis-cli": "redis-tools", "rg": "ripgrep",
		"seq": "coreutils", "sh": "dash", "sha256sum": "coreutils", "shuf": "coreutils", "sort": "coreutils",
		"sox": "sox", "split": "coreutils", "ss": "iproute2", "ssh": "openssh-client", "scp": "openssh-client",
		"stat": "coreutils", "strings": "binutils", "tac": "coreutils", "tail": "coreutils", "tee": "coreutils",
		"tesseract": "tesseract-ocr", "timeout": "coreutils", "top": "procps", "touch": "coreutils", "tput": "ncurses-bin",
		"tr": "coreutils", "tsort": "coreutils", "uname": "coreutils", "uniq": "coreutils", "uptime": "procps",
		"uuidgen": "uuid-runtime", "wc": "coreutils", "xargs": "findutils", "xmllint": "libxml2-utils",
		"xz": "xz-utils", "zcat": "gzip",
	}
}
