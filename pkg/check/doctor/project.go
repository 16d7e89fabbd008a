package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/bundle/vendoring"
	"mcp-bash/pkg/check/validate"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/registry/requirements"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/scriptenv"
)

// Project is the project around the working directory.
type Project struct {
	Root           string                     `json:"root"`            // "" for none
	ServerMeta     *bool                      `json:"serverMetaValid"` // nil if it is missing
	serverMeta     string                     // the path of server.meta.json, relative to the project
	Tools          int                        `json:"toolsCount"`
	RegistryExists bool                       `json:"registryExists"`
	ScriptEnv      *scriptenv.Report          `json:"-"` // the variables that scripts would get
	needs          *requirements.Requirements // nil: the project has no requirements
}

func (e *examination) project() {
	root, err := project.FindRoot(e.o.Env, "", e.o.Dir)
	if err != nil {
		return
	}
	w := &e.r.Project
	w.Root = root
	p := project.Open(root, e.o.Env.Clone(), e.o.Dir, func(string) {})
	e.contents(p)
	e.scriptEnv(p)
	e.registration(p)
	if w.needs, err = requirements.Read(p); err != nil {
		label := folder.Label(root, filepath.Join(p.Server, "requirements.json"))
		e.add("project.requirements_invalid", label+": "+err.Error(), "")
	} else if w.needs != nil {
		e.dependencies(w.needs.Dependencies)
	}
	if e.r.MacOS.Detected {
		e.r.MacOS.Project = e.quarantined("macos.project_quarantined", root, root)
	}
	e.vendored(root)
}

// registration reports a register.json, or register.sh, that the server will refuse
// because others could have written it (CLI-1106a).
func (e *examination) registration(p *project.Project) {
	file := code.RegisterList.In(p)
	if _, err := os.Lstat(file.Path()); err != nil {
		if file = code.Register.In(p); !p.Discovery.Hooks {
			return
		}
	}
	var insecure *trust.InsecureError
	if _, err := os.Lstat(file.Path()); err == nil && errors.As(p.CheckTrusted(file), &insecure) {
		e.add("project.register_permissions", folder.Label(p.Root, file.Path())+" refused: "+p.Brief(insecure), "")
	}
}

func (e *examination) contents(p *project.Project) {
	w := &e.r.Project
	w.serverMeta = folder.Label(p.Root, filepath.Join(p.Server, "server.meta.json"))
	list, err := registry.NewCatalog(p, registry.Options{ReadOnly: true}).
		Fresh(e.ctx, kinds.Tools)
	if err == nil {
		w.Tools = len(list.Items)
	}
	if info, err := os.Stat(p.Registry); err == nil && info.IsDir() {
		w.RegistryExists = true
	} else {
		e.add("project.registry_missing", "Registry: .registry/ does not exist (will be created on demand)", "")
	}
	result, err := validate.Project(e.ctx, p, validate.Options{Runner: e.runner})
	if err != nil {
		return
	}
	valid := true
	w.ServerMeta = &valid
	for _, f := range result.Findings {
		switch f.ID {
		case "lock.drift", "lock.unusable":
			e.add("project.lock_drift", f.Text(), "")
		case "policy.replaces_default":
			e.add("project.policy_hook_replaces_default", "policy.sh"+validate.PolicyReplacesDefault, "")
		case "server.no_metadata":
			w.ServerMeta = nil
		case "metadata.invalid_json":
			if f.Section == "server" && valid {
				valid = false
				e.add("project.server_meta_invalid", w.serverMeta+": invalid JSON", "")
			}
		}
	}
	if result.Errors > 0 {
		message := fmt.Sprintf("validate finds %d error(s) and %d warning(s)", result.Errors, result.Warnings)
		e.add("project.validate_errors", message, "mcp-bash validate")
	}
}

// scriptEnv reports which variables scripts would get if the server were started in this environment.
func (e *examination) scriptEnv(p *project.Project) {
	r := &scriptenv.Report{Policy: &p.Scripts, Env: p.Env, Placeholders: e.o.Placeholders}
	e.r.Project.ScriptEnv, e.r.EnvPolicy = r, r.AppendJSON(nil)
	for _, line := range r.Lines() {
		if line.Fault != "" {
			e.add("project."+line.Fault, line.Text, "")
		}
	}
}

// unknown reports variables that begin with MCPBASH_ and that no program reads.
func (e *examination) unknown() {
	var listed []string
	if r := e.r.Project.ScriptEnv; r != nil {
		listed = r.Policy.Tools.Names
	}
	for _, line := range settings.Unknown(e.o.Env, listed) {
		e.add("env.unknown", line, "")
	}
}

// dependencies looks for the programs that the project needs.
func (e *examination) dependencies(list []requirements.Dependency) {
	for _, d := range list {
		names := d.Programs
		switch v := d.Examine(e.ctx, e.runner, e.o.Env["PATH"]); {
		case v.Fault == requirements.Met:
		case v.Fault == requirements.TooOld:
			e.add("deps.too_old", v.Text, d.InstallHint)
		case v.Fault == requirements.Unknown:
			e.add("deps.unknown", v.Text, d.InstallHint)
		case len(names) == 1:
			e.add("deps.missing", "Missing dependency: "+names[0], d.InstallHint)
		default:
			e.add("deps.missing", fmt.Sprintf("Missing dependency (need one of: %s)", strings.Join(names, ", ")), d.InstallHint)
		}
	}
}

// vendored compares the server in the project with the record of its installation and with this release.
func (e *examination) vendored(root string) {
	r, err := vendoring.Verify(root)
	var changed *vendoring.Mismatch
	switch {
	case errors.Is(err, vendoring.ErrNoLock):
		return
	case errors.As(err, &changed):
		message := ".mcp-bash/ is not what was put there"
		if len(changed.Details) > 0 {
			message += ": " + strings.Join(changed.Details, ", ")
		}
		e.add("project.vendor_modified", message, "mcp-bash vendor --upgrade")
	case err != nil:
		e.add("project.vendor_modified", ".mcp-bash/ cannot be verified: "+err.Error(), "mcp-bash vendor --upgrade")
		return
	}
	if r != nil && older(r.Version, cli.Version) {
		e.add("project.vendor_outdated", fmt.Sprintf(".mcp-bash/ is of version %s; this is %s", r.Version, cli.Version),
			"mcp-bash vendor --upgrade")
	}
}

// minimum compares the version with the required minimum.
func (e *examination) minimum() {
	if e.o.MinVersion == "" && e.r.Project.needs != nil {
		e.o.MinVersion = e.r.Project.needs.MinVersion
	}
	if e.tooOld() {
		message := fmt.Sprintf("Version below minimum requirement: %s < %s", e.r.Framework.Version, e.o.MinVersion)
		e.add("framework.version_too_old", message, "")
	}
}

func (e *examination) tooOld() bool {
	return e.o.MinVersion != "" && older(e.r.Framework.Version, e.o.MinVersion)
}
