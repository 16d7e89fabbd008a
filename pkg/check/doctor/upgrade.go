package doctor

import (
	"cmp"
	"path/filepath"
	"runtime"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/text/shell"
)

// An Upgrade describes how an installation gets its next version (CLI-1117).
type Upgrade struct {
	Home, Version string
	How           string   // how it was installed, for people
	Command       string   // the command that installs the next version; "": it is unknown
	Argv          []string // the same command, for this program to run in Env; nil: the user runs it
	Env           project.Env
}

// managers are the package managers, in the order in which they are tried. A part of the installation's path and a file
// at a path relative to it identify each.
var managers = []struct{ part, file, name, command string }{
	{"/Cellar/mcp-bash/", "", "Homebrew", "brew upgrade mcp-bash"},
	{"/_npx/", "", "npx", "npx -y mcp-bash@latest"},
	{"/lib/node_modules/", "", "npm", "npm install -g mcp-bash@latest"},
	{"/node_modules/", "", "npm", "npm install mcp-bash@latest"},
	{"/pipx/venvs/", "", "pipx", "pipx upgrade mcp-bash"},
	{"/uv/tools/", "", "uv", "uv tool upgrade mcp-bash"},
	{"", "lib/python3*/*-packages/mcp_bash-*.dist-info", "pip", "pip install --upgrade mcp-bash"},
	{"", "vendor.json", "mcp-bash vendor", "mcp-bash vendor --upgrade"},
	{"", "cmd/mcp-bash/main.go", "make build", "git pull && make build"},
	{"/usr/lib/mcp-bash/", "../../../var/lib/dpkg/info/mcp-bash.list", "dpkg",
		"sudo dpkg -i mcp-bash_VERSION_" + runtime.GOARCH + ".deb"},
	{"/usr/lib/mcp-bash/", "", "rpm", "sudo rpm -U mcp-bash-VERSION-1.ARCH.rpm"},
}

// PlanUpgrade returns how this installation was made and gets the next version. check asks for the version only.
func PlanUpgrade(env project.Env, check bool) (*Upgrade, error) {
	home := cmp.Or(project.InstalledHome(env), ownHome())
	u := &Upgrade{Home: home, Version: cmp.Or(readVersion(home), cli.Version), How: "hand", Env: env.Clone()}
	if isInstalled(home) {
		return u, u.byInstaller(check)
	}
	for _, m := range managers {
		found, _ := filepath.Glob(filepath.Join(home, filepath.FromSlash(m.file)))
		if strings.Contains(filepath.ToSlash(home)+"/", m.part) && (m.file == "" || len(found) > 0) {
			u.How, u.Command = m.name, m.command
			break
		}
	}
	return u, nil
}

// byInstaller plans a run of the installation's install.sh, with the source that its record names (CLI-1708).
func (u *Upgrade) byInstaller(check bool) error {
	file, err := installerIn(u.Home)
	if err == nil {
		err = exposed(physical(u.Home))
	}
	if err != nil {
		return &cli.Error{Code: cli.CodePolicy, Cause: err, Exit: cli.ExitPolicy}
	}
	record := project.Record(u.Home)
	from, source := rawjson.TextOf(record, "from"), rawjson.TextOf(record, "source")
	releases, checkout := project.Releases(u.Env, u.Home), rawjson.TextOf(record, "checkout")
	if source == "release" {
		releases = cmp.Or(releases, from)
	}
	u.Argv = []string{"sh", file, "--yes", "--no-modify-path"}
	usual := cmp.Or(u.Env["XDG_DATA_HOME"], filepath.Join(u.Env["HOME"], ".local", "share"))
	if data := filepath.Dir(u.Home); filepath.Base(data) == "share" && physical(data) != physical(usual) {
		u.Argv = append(u.Argv, "--prefix", filepath.Dir(data))
	}
	variable, value := "MCPBASH_RELEASE_BASE_URL", releases
	switch ref := rawjson.TextOf(record, "ref"); {
	case checkout != "":
		variable, value = "MCPBASH_INSTALL_LOCAL_SOURCE", checkout
	case source == "git":
		variable, value = "MCPBASH_INSTALL_REPO_URL", cmp.Or(u.Env["MCPBASH_INSTALL_REPO_URL"], from)
		u.Argv = append(u.Argv, "--ref", ref)
	case releases == "":
		return cli.Failf(cli.CodeNotFound, "no address of releases is known; %s was installed from %s", u.Home,
			cmp.Or(from, "an archive")).WithHint("download the archive of the next version, then run: sh %s --archive FILE",
			shell.Quote(file))
	default:
		u.Argv = append(u.Argv, "--version", "latest")
		if key := rawjson.TextOf(record, "key"); key != "" {
			u.Argv = append(u.Argv, "--verify-signature", key)
		}
		if check {
			u.Argv = append(u.Argv, "--check")
		}
	}
	if check && variable != "MCPBASH_RELEASE_BASE_URL" {
		return cli.Failf(cli.CodeNotFound, "only releases can be compared; this was installed from %s", secrets.Text(value))
	}
	for _, other := range []string{"MCPBASH_HOME", "MCPBASH_INSTALL_ARCHIVE_URL", "MCPBASH_INSTALL_LOCAL_SOURCE"} {
		delete(u.Env, other) // install.sh would prefer them
	}
	u.Env[variable] = value
	u.How, u.Command = "install.sh from "+secrets.Text(value), variable+"="+shell.Quote(secrets.Text(value))
	for _, word := range u.Argv {
		u.Command += " " + shell.Quote(word)
	}
	return nil
}

// AppendJSON appends the plan for programs.
func (u *Upgrade) AppendJSON(dst []byte) []byte {
	var b rawjson.Builder
	b.Object().Name("ok").Bool(true).Name("path").String(u.Home).Name("version").String(u.Version).
		Name("installedBy").String(u.How).Name("command").String(u.Command).Name("runs").Bool(len(u.Argv) > 0)
	return append(dst, b.End().Bytes()...)
}
