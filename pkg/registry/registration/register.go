package registration

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/files/userfile"
	"mcp-bash/pkg/json/jsonedit"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/wire/mcp"
)

// RegisterOptions are the options of [Project.Register].
type RegisterOptions struct {
	Replace bool // replace a tool of the same id or name
	DryRun  bool // check everything and change nothing
}

// Register registers a tool. payload is a JSON object with the fields of an entry of register.json, or parameters
// instead of inputSchema. The error is an [*Error], a [*registry.Failure] if the lock is not available, the context's
// error, or an error of the file system.
func (r *Project) Register(ctx context.Context, payload []byte, o RegisterOptions) (RegisteredTool, error) {
	reg, faults := readRegistration(payload)
	denied := ""
	if reg.entry != nil {
		var fault string
		if fault, denied = r.checkPath(reg.Path); fault != "" {
			faults.add("path", fault)
		}
	}
	if err := reg.invalid(faults); err != nil {
		return RegisteredTool{}, err
	}
	if needed := access.LevelOf(reg.JSON); denied == "" && !r.level.Allows(needed) {
		denied = fmt.Sprintf("tool '%s' requires security level '%s' (current level: '%s'); "+
			"see MCPBASH_SECURITY_LEVEL, and securityLevel in %s", reg.Name, needed, r.level, project.Marker)
	}
	if denied != "" {
		return RegisteredTool{}, refuse(ErrPermissionDenied, reg.ID, "%s", denied)
	}
	var registered RegisteredTool
	err := r.change(ctx, reg.ID, o.DryRun, func(e *edit) error {
		if err := e.add(&reg, o.Replace); err != nil {
			return err
		}
		after, err := e.result(ctx)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(after, func(s registry.SourcedTool) bool {
			return s.Name == reg.Name && s.ID == reg.ID && s.Source == declare.JSONFile
		})
		if at < 0 {
			return refuse(ErrInvalidRegistration, reg.ID,
				"tool '%s' would not take effect because of the other entries of %s", reg.ID, declare.JSONFile)
		}
		e.warn(&reg, after)
		registered = registeredTool(&after[at], r.level)
		return nil
	})
	return registered, err
}

// Unregister removes a tool from the registry, given its id or name, and returns its id. It excludes a tool that
// discovery would still find. It returns the same errors as [Project.Register].
func (r *Project) Unregister(ctx context.Context, id string) (string, error) {
	err := r.change(ctx, id, false, func(e *edit) error {
		at := lookUp(e.before, id)
		if at < 0 {
			if err := e.allowed(id); err != nil {
				return err // register.sh may register the tool
			}
			return notFound(id, e.before)
		}
		gone := e.before[at].Candidate
		id = gone.ID
		return e.remove(ctx, gone)
	})
	return id, err
}

// change calls a function that changes register.json. The function runs under the lock with the current content, so
// that no other change is lost.
func (r *Project) change(ctx context.Context, id string, dryRun bool, decide func(*edit) error) error {
	if r.p.Discovery.Static {
		return refuse(ErrPermissionDenied, id, "the registry is static; unset MCPBASH_STATIC_REGISTRY to change it")
	}
	if err := r.mutex.Lock(ctx); err != nil {
		return err
	}
	defer r.mutex.Unlock()
	if err := r.changeLocked(ctx, dryRun, decide); err != nil {
		var e *Error
		if (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) && !errors.As(err, &e) {
			return refuse(ErrPermissionDenied, id, "%s cannot be written: %s", declare.JSONFile, fsys.Cause(err))
		}
		if errors.As(err, &e) && e.ID == "" {
			e.ID = id
		}
		return err
	}
	if !dryRun {
		r.catalog.Fresh(ctx, kinds.Tools) // update tools.json; errors are logged, and the next check tries again
	}
	return nil
}

// lockPurpose is the name of the lock in messages.
const lockPurpose = "registry.register"

// changeLocked is change under the lock of this process. The lock is on the directory itself, so all processes use the
// same lock, and there is no lock file among checked-in files. If another process holds it for too long, the error is a
// [*registry.Failure].
func (r *Project) changeLocked(ctx context.Context, dryRun bool, decide func(*edit) error) error {
	if !dryRun {
		if err := os.MkdirAll(r.p.Server, 0o755); err != nil {
			return err
		}
	}
	if err := r.checkServerDir(); err != nil {
		return err
	}
	text, err := declare.ReadFile(r.p) // ReadFile's faults are clearer than Edit's
	if err != nil {
		return explain(err)
	}
	if dryRun {
		_, err := r.decided(ctx, text, decide)
		return err
	}
	dir, err := os.OpenRoot(r.p.Server)
	if err != nil {
		return err
	}
	defer dir.Close()
	o := userfile.Options{Max: r.p.Discovery.MaxManual, Mode: 0o644, Wait: r.wait}
	_, err = userfile.Edit(ctx, dir, declare.JSONFile, o, func(f userfile.File) ([]byte, error) {
		if !f.There {
			f.Text = nil
		}
		return r.decided(ctx, f.Text, decide)
	})
	if locked, ok := errors.AsType[*atomicfile.LockedError](err); ok {
		locked.Name = lockPurpose
		return &registry.Failure{Kind: kinds.Tools, Reason: locked.Error(), Fatal: true, Err: err}
	}
	return err
}

// decided returns the text of register.json after a change. text is nil if there is no file.
func (r *Project) decided(ctx context.Context, text []byte, decide func(*edit) error) ([]byte, error) {
	e, err := r.edit(ctx, text)
	if err != nil {
		return nil, explain(err)
	}
	was := e.Text
	if err := decide(e); err != nil || bytes.Equal(was, e.Text) {
		return text, err
	}
	return e.Text, nil
}

// checkServerDir checks that no other user can change register.json, and that the file is writable.
func (r *Project) checkServerDir() error {
	trusted := code.RegisterList.In(r.p)
	file := trusted.Path()
	if insecure, ok := errors.AsType[*trust.InsecureError](r.p.CheckTrusted(trusted)); ok {
		return refuse(ErrPermissionDenied, "", "%s", declare.Faultf("refused: %s", r.p.Brief(insecure)).Text)
	}
	if info, err := os.Lstat(file); err == nil && info.Mode().Perm()&0o200 == 0 {
		return refuse(ErrPermissionDenied, "", "%s is not writable; run chmod u+w", file)
	}
	return nil
}

// checkPath checks the path of a script. The result is a fault of the registration, or the reason why permission is
// denied.
func (r *Project) checkPath(file string) (fault, denied string) {
	label := folder.Label(r.p.Root, r.p.Tools)
	shown := path.Join(label, file)
	local := filepath.FromSlash(file)
	switch {
	case file == "":
		return `path: missing`, ""
	case path.IsAbs(file) || filepath.IsAbs(local):
		return fmt.Sprintf("path: not relative to %s/", label), ""
	case strings.HasSuffix(file, "/"):
		return fmt.Sprintf("path: %s is a directory", shown), ""
	}
	abs := r.p.Tools + string(filepath.Separator) + local // the path of later calls
	var insecure *trust.InsecureError
	switch err := trust.CheckScript(r.p.Root, r.p.Tools, abs); {
	case errors.As(err, &insecure):
		return "", fmt.Sprintf("path '%s' is refused: %s", file, err)
	case err != nil:
		return fmt.Sprintf("path: no file %s (it is relative to %s/)", shown, label), ""
	}
	if _, err := script.Command(abs); err != nil {
		return fmt.Sprintf("path: %s is not runnable; run chmod +x, or begin it with #!", shown), ""
	}
	return "", ""
}

// RegisterCompletion adds an entry to the completions of register.json, unless there is one with the same name. The
// rest of the file stays unchanged. RegisterCompletion returns the same errors as [Project.Register].
func (r *Project) RegisterCompletion(ctx context.Context, name string, entry json.RawMessage) (known bool, err error) {
	list := kinds.Completions.Key
	err = r.change(ctx, name, false, func(e *edit) error {
		if v := e.Member(list); !rawjson.Absent(v) && rawjson.KindOf(v) != rawjson.Array {
			return refuse(ErrInvalidRegistration, name, "%s: %s must be an array or null", declare.JSONFile, list)
		}
		for _, there := range e.Elements(list) {
			if rawjson.TextOf(there, "name") == name {
				known = true
				return nil
			}
		}
		e.Append(list, entry)
		_, err := e.result(ctx) // check that the new text is valid
		return err
	})
	return known, err
}

type edit struct {
	*jsonedit.Document
	project *Project
	fresh   bool                   // register.json does not exist yet
	before  []registry.SourcedTool // the tools before the change
}

// edit begins a change of the text of register.json, or of no file if text is nil.
func (r *Project) edit(ctx context.Context, text []byte) (e *edit, err error) {
	e = &edit{project: r, fresh: text == nil}
	var doc *declare.Document
	if e.fresh {
		text = []byte(`{"version":1}`)
	} else if doc, err = r.parse(text); err != nil {
		return nil, err
	}
	e.Document = jsonedit.New(text)
	e.before, err = r.catalog.PreviewTools(ctx, doc)
	return e, err
}

func (e *edit) add(reg *registration, replace bool) error {
	if err := e.allowed(reg.ID); err != nil {
		return err
	}
	target := -1   // the entry that the registration replaces
	var dead []int // other entries with the same id or name
	for _, match := range []func(id, name string) bool{
		func(id, _ string) bool { return id == reg.ID },
		func(_, name string) bool { return name == reg.Name },
	} {
		for i, entry := range e.Elements(kinds.Tools.Key) {
			id, name := knownBy(entry)
			switch {
			case !match(id, name) || i == target || slices.Contains(dead, i):
			case target < 0:
				target = i
			default:
				dead = append(dead, i)
			}
		}
	}
	if err := e.collision(reg, replace); err != nil {
		return err
	}
	if !e.HasArray(kinds.Tools.Key) {
		if merge, _ := rawjson.Strings(e.Member("merge")); !slices.Contains(merge, kinds.Tools.Key) {
			e.Append("merge", rawjson.Quote(kinds.Tools.Key))
		}
	}
	if target >= 0 {
		e.ReplaceElement(kinds.Tools.Key, target, reg.entry)
	} else {
		e.Append(kinds.Tools.Key, reg.entry)
	}
	slices.Sort(dead)
	for _, i := range slices.Backward(dead) {
		e.Delete(kinds.Tools.Key, i)
	}
	e.DeleteStrings("exclude", reg.ID, reg.Name)
	return nil
}

func knownBy(entry json.RawMessage) (id, name string) {
	name = rawjson.TextOf(entry, "name")
	if v := rawjson.Get(entry, "id"); item.IsID(v) {
		id, _ = rawjson.Text(v)
		return id, name
	}
	return name, name
}

// collision returns the error for a registration whose id or name belongs to another tool.
// A registration cannot replace two tools, one by its id and one by its name (R-206,
// R-206a).
func (e *edit) collision(reg *registration, replace bool) error {
	var one *registry.SourcedTool
	for i := range e.before {
		s := &e.before[i]
		if !reg.collides(s.Candidate) || s.Path == path.Clean(reg.Path) && isBare(e.project.p, s) {
			continue
		}
		if !replace {
			return reg.duplicateOf(s.Candidate, kinds.Tools.Label(e.project.p, s.Candidate))
		}
		if one != nil {
			other := s
			if other.ID == reg.ID {
				other = one
			}
			return reg.duplicateOf(other.Candidate, kinds.Tools.Label(e.project.p, other.Candidate))
		}
		one = s
	}
	return nil
}

// remove removes the entries of a tool, and excludes tools that discovery still finds.
func (e *edit) remove(ctx context.Context, gone item.Candidate) error {
	if err := e.allowed(gone.ID); err != nil {
		return err
	}
	for i, entry := range slices.Backward(e.Elements(kinds.Tools.Key)) {
		if id, name := knownBy(entry); id == gone.ID || name == gone.Name {
			e.Delete(kinds.Tools.Key, i)
		}
	}
	for range 2 { // once by its id, once by its name
		after, err := e.result(ctx)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(after, func(s registry.SourcedTool) bool { return s.ID == gone.ID || s.Name == gone.Name })
		if at < 0 {
			return nil
		}
		// Exclude the id, unless another tool has the id as its name.
		named, stays := gone.ID, after[at]
		another := func(s registry.SourcedTool) bool { return s.Name == named && s.ID != named }
		if stays.ID != named || slices.ContainsFunc(after, another) {
			named = stays.Name
		}
		e.Append("exclude", rawjson.Quote(named))
	}
	return nil
}

// allowed returns an error if a new register.json would disable register.sh.
func (e *edit) allowed(id string) error {
	if !e.fresh || !e.project.p.Discovery.Hooks || !e.project.catalog.HasHook() {
		return nil
	}
	return refuse(ErrInvalidRegistration, id, "a new %s would switch off %s, which registers this project's tools; "+
		"change it there", declare.JSONFile, declare.HookFile)
}

// result returns the tools after the change. If the new text is invalid, it returns an
// error.
func (e *edit) result(ctx context.Context) ([]registry.SourcedTool, error) {
	if max := e.project.p.Discovery.MaxManual; len(e.Text) > max {
		return nil, refuse(ErrInvalidRegistration, "",
			"%s would exceed %d bytes (MCPBASH_MAX_MANUAL_REGISTRY_BYTES)", declare.JSONFile, max)
	}
	doc, err := e.project.parse(e.Text)
	if err != nil {
		return nil, explain(err)
	}
	return e.project.catalog.PreviewTools(ctx, doc)
}

// parse parses a register.json. A fault that makes the tools unavailable is an error.
func (r *Project) parse(text []byte) (*declare.Document, error) {
	doc, err := declare.Parse(text)
	if err != nil {
		return nil, err
	}
	if m := doc.Lists[kinds.Tools.Key]; m != nil && m.Err != nil {
		return nil, m.Err
	}
	return doc, nil
}

// warn logs a warning for each tool with metadata that the registration hides because it
// names the same script.
func (e *edit) warn(reg *registration, after []registry.SourcedTool) {
	for i := range e.before {
		s := &e.before[i]
		stays := slices.ContainsFunc(after, func(a registry.SourcedTool) bool { return a.Name == s.Name })
		if !stays && !reg.collides(s.Candidate) && !isBare(e.project.p, s) {
			e.project.log(mcp.Warning, access.RegistryLogger,
				fmt.Sprintf("tool '%s' is no longer offered: '%s' takes its place (%s)",
					s.Name, reg.Name, kinds.Tools.Label(e.project.p, s.Candidate)))
		}
	}
}
