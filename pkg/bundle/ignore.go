package bundle

import (
	"path"
	"strings"
	"sync"
)

// A rule of an ignore file, in the syntax of .gitignore.
type rule struct {
	parts   []string // of the pattern; "**" is any number of directories
	keep    bool     // "!": what it names is not left out
	dirOnly bool
}

// An ignoreFile is an ordered list of rules, of which the last that matches counts.
type ignoreFile []rule

// maxIgnore is how long .mcpbignore may be, in bytes; maxParts how many parts one of
// its patterns may have.
const (
	maxIgnore = 1 << 20
	maxParts  = 64
)

// parseIgnore reads the lines of an ignore file.
func parseIgnore(text string) (rules ignoreFile) {
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line = strings.TrimRight(line, "\r\n")
		if !strings.HasSuffix(line, `\ `) {
			line = strings.TrimRight(line, " \t")
		}
		if line == "" || line[0] == '#' {
			continue
		}
		var r rule
		line, r.keep = strings.CutPrefix(line, "!")
		if strings.HasPrefix(line, `\!`) || strings.HasPrefix(line, `\#`) {
			line = line[1:]
		}
		line, r.dirOnly = strings.CutSuffix(line, "/")
		anchored := strings.Contains(line, "/")
		line = strings.Trim(line, "/")
		if line == "" {
			continue
		}
		r.parts = strings.Split(line, "/")
		if !anchored {
			r.parts = append([]string{"**"}, r.parts...)
		}
		if len(r.parts) <= maxParts {
			rules = append(rules, r)
		}
	}
	return rules
}

// match says what the rules say of a path relative to the project: whether one
// matches, and whether it leaves the path out.
func (rules ignoreFile) match(name string, isDir bool) (matched, out bool) {
	parts := strings.Split(name, "/")
	for i := len(rules) - 1; i >= 0; i-- {
		r := &rules[i]
		if (isDir || !r.dirOnly) && matchParts(r.parts, parts) {
			return true, !r.keep
		}
	}
	return false, false
}

// matchParts compares a pattern with a path, part by part, in time that is bounded by
// the product of their lengths.
func matchParts(pattern, parts []string) bool {
	reach := make([]bool, len(parts)+1) // which beginnings of the path the pattern so far covers
	reach[0] = true
	for i, p := range pattern {
		next := make([]bool, len(parts)+1)
		for at, ok := range reach {
			switch {
			case !ok:
			case p == "**" && i == len(pattern)-1:
				if at < len(parts) { // "dir/**" is what is in it
					next[len(parts)] = true
				}
			case p == "**":
				for k := at; k <= len(parts); k++ {
					next[k] = true
				}
			case at < len(parts):
				if ok, err := path.Match(p, parts[at]); ok && err == nil {
					next[at+1] = true
				}
			}
		}
		reach = next
	}
	return reach[len(parts)]
}

// neverShipped is left out of every bundle; it covers what the official tool leaves
// out (CLI-1417, CLI-1807).
var neverShipped = sync.OnceValue(func() ignoreFile {
	return parseIgnore(`
.git
.hg
.svn
.bzr
.jj
CVS
_darcs
.env*
*.log
*.mcpb
.tmp
server.d/.debug
.registry
*~
*.swp
*.swo
.#*
*.orig
*.bak
.npmrc
.yarnrc
.netrc
.pypirc
.git-credentials
.npm
.yarn
.eslintrc
.editorconfig
.prettierrc
.prettierignore
.eslintignore
.nycrc
.babelrc
.pnp.*
node_modules/.cache/
node_modules/.bin/
**/node_modules/.cache/
**/node_modules/.bin/
*.map
package-lock.json
yarn.lock
*.d.ts
*.tsbuildinfo
tsconfig.json
`)
})

// litter is left out without a word.
var litter = sync.OnceValue(func() ignoreFile {
	return parseIgnore(`
.DS_Store
Thumbs.db
desktop.ini
.gitignore
.gitattributes
.gitkeep
.mcpbignore
`)
})

// secretNames are those of files that hold private keys by custom.
var secretNames = sync.OnceValue(func() ignoreFile {
	return parseIgnore(`
id_rsa
id_dsa
id_ecdsa
id_ecdsa_sk
id_ed25519
id_ed25519_sk
*.p12
*.pfx
*.jks
*.keystore
*.kdbx
`)
})
