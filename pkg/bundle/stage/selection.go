package stage

import (
	"strings"
	"sync"

	"mcp-bash/pkg/bundle/internal/gitignore"
)

// A selection decides which files of a project go into its bundle (CLI-1416, CLI-1417).
type selection struct {
	ignore gitignore.Rules // .mcpbignore
	named  map[string]bool // files that MCPB_INCLUDE names
	cache  bool            // MCPB_INCLUDE names .registry
}

// ignoreName is the file of patterns of what is left out; maxIgnore is its maximum size
// in bytes.
const (
	ignoreName = ".mcpbignore"
	maxIgnore  = 1 << 20
)

// A verdict is the decision about a file or a directory.
type verdict int

const (
	take   verdict = iota
	skip           // left out, and not listed: litter, and what .mcpbignore names
	leave          // left out and listed
	refuse         // left out as a secret, and listed with the rule
)

// decide returns the verdict for a path of the project, and the rule for a secret. It also leaves
// out all files below a directory that is left out.
func (s *selection) decide(name string, isDir bool) (v verdict, rule string) {
	if s.named[name] || s.cache && name == cacheDir {
		return take, ""
	}
	if s.isIgnored(name, isDir) {
		return skip, ""
	}
	if s.cache {
		name = strings.TrimPrefix(name, cacheDir+"/")
	}
	for _, list := range secretFiles() {
		if isListed(list.names, name, isDir) {
			return refuse, list.rule
		}
	}
	switch {
	case isListed(litter(), name, isDir):
		return skip, ""
	case isVersionControl(name, isDir), isListed(neverShipped(), name, isDir):
		return leave, ""
	}
	return take, ""
}

func (s *selection) takes(name string, isDir bool) bool {
	v, _ := s.decide(name, isDir)
	return v == take
}

// isIgnored reports whether .mcpbignore leaves a path out.
func (s *selection) isIgnored(name string, isDir bool) bool {
	return s.ignore.Decide(name, isDir) == gitignore.Ignored
}

func isVersionControl(name string, isDir bool) bool { return isListed(versionControl(), name, isDir) }

// isListed reports whether a list names a path, whatever its case.
func isListed(list gitignore.Rules, name string, isDir bool) bool {
	return list.Decide(strings.ToLower(name), isDir) == gitignore.Ignored
}

// The lists are in lower case.

// versionControl is never shipped, not even by its name.
var versionControl = sync.OnceValue(func() gitignore.Rules {
	return gitignore.Parse(`
.git
.hg
.svn
.bzr
.jj
_darcs
**/cvs/entries
**/cvs/repository
**/cvs/root
`)
})

// neverShipped is left out of every bundle. With the lists around it, it includes that of
// the official tool (CLI-1417, CLI-1807).
var neverShipped = sync.OnceValue(func() gitignore.Rules {
	return gitignore.Parse(`
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

// litter is left out and not listed.
var litter = sync.OnceValue(func() gitignore.Rules {
	return gitignore.Parse(`
.ds_store
thumbs.db
desktop.ini
.gitignore
.gitattributes
.gitkeep
.mcpbignore
`)
})

// A fileList is a rule by which files are secrets: by their names.
type fileList struct {
	rule  string
	names gitignore.Rules
}

// secretFiles are files that hold secrets by custom (CLI-1442).
var secretFiles = sync.OnceValue(func() []fileList {
	return []fileList{
		{"env-file", gitignore.Parse(`
.env*
*.env
`)},
		{"key-file", gitignore.Parse(`
id_rsa
id_dsa
id_ecdsa
id_ecdsa_sk
id_ed25519
id_ed25519_sk
id_xmss
*.ppk
*.pvk
.ssh/
.gnupg/
secring.*
`)},
		{"key-store", gitignore.Parse(`
*.p12
*.pfx
*.jks
*.bks
*.keystore
*.kdb
*.kdbx
*.keychain
*.keychain-db
.password-store/
`)},
		{"login-file", gitignore.Parse(`
.netrc
_netrc
.npmrc
.yarnrc
.yarnrc.yml
.pypirc
.git-credentials
.pgpass
pgpass.conf
.my.cnf
.mylogin.cnf
.htpasswd
.htdigest
.docker/
.dockercfg
.vault-token
.s3cfg
.boto
.fetchmailrc
.msmtprc
.esmtprc
.renviron
rclone.conf
**/.cargo/credentials
**/.cargo/credentials.toml
**/.gem/credentials
**/.config/gh/
**/.config/hub
**/.config/rclone/
`)},
		{"cloud-credentials", gitignore.Parse(`
.aws/
.azure/
.kube/
kubeconfig
*.kubeconfig
.oci/
.aliyun/
.databrickscfg
**/.config/gcloud/
**/.config/doctl/
`)},
		{"terraform-state", gitignore.Parse(`
*.tfstate
*.tfstate.*
terraform.tfvars
*.auto.tfvars
.terraform/
.terraformrc
.terraform.d/
terraform.rc
`)},
		{"history", gitignore.Parse(`
.*_history
`)},
	}
})
