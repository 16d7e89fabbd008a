package file

import (
	"path/filepath"
	"runtime"
	"strings"

	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/text/ascii"
)

var (
	errURI  = &provider.Failure{Status: provider.Invalid, Message: "Invalid file URI"}
	errHome = &provider.Failure{Status: provider.Invalid,
		Message: "Invalid file URI: ~ is not expanded; write the whole path"}
)

// names returns the absolute, clean paths that a URI can mean, in the order in which they are
// tried. plain is the index of the usual meaning: without query and fragment, and with escapes
// decoded once. Earlier paths include the query, because a file name may contain a question mark.
// The path after plain keeps its escapes (RES-80, RES-81). dir is the base of relative paths.
func names(uri, dir string) (list []string, plain int, err error) {
	if uri == "" || strings.ContainsRune(uri, 0) {
		return nil, 0, errURI
	}
	full := withoutScheme(uri)
	cut := full
	if at := strings.IndexAny(full, "?#"); at >= 0 {
		cut = full[:at]
	}
	for _, name := range []string{full, cut} {
		if name == cut {
			plain = len(list)
		}
		decoded := unescape(name)
		if strings.ContainsRune(decoded, 0) {
			return nil, 0, errURI
		}
		if strings.HasPrefix(decoded, "~/") {
			return nil, 0, errHome
		}
		list = append(list, absolute(decoded, dir))
		if decoded != name {
			list = append(list, absolute(name, dir))
		}
		if full == cut {
			break
		}
	}
	return list, plain, nil
}

// withoutScheme turns a file URI into a path, absolute or relative to the project. Text without a
// scheme is returned unchanged (RES-80).
func withoutScheme(uri string) string {
	const scheme, local = "file://", "localhost/"
	if len(uri) < len(scheme) || !ascii.EqualFold(uri[:len(scheme)], scheme) {
		return uri
	}
	name := uri[len(scheme):]
	if len(name) >= len(local) && ascii.EqualFold(name[:len(local)], local) {
		name = name[len(local)-1:]
	}
	if drive := strings.TrimPrefix(name, "/"); hasDrive(drive) {
		if runtime.GOOS == "windows" {
			return drive
		}
		return "/" + ascii.Lower(drive[:1]) + drive[2:] // as in Git Bash
	}
	return name
}

// hasDrive reports whether a name begins with a drive letter, a colon and a slash: "C:/".
func hasDrive(name string) bool {
	return len(name) >= 3 && name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z' && name[1] == ':' &&
		(name[2] == '/' || name[2] == '\\' && runtime.GOOS == "windows")
}

func absolute(name, dir string) string {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// unescape decodes percent escapes once. It keeps malformed escapes.
func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if hi, lo := hexValue(s[i+1]), hexValue(s[i+2]); hi >= 0 && lo >= 0 {
				b.WriteByte(byte(hi<<4 | lo))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func hexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
