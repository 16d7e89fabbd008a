package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/script"
)

// A Project is the [ToolRegistry] of a project: it shows all that the project
// offers, discovered tools included, and registers by writing
// server.d/register.json (registry ). It may be used from any
// goroutine, and at the same time as others, in any process.
type Project struct {
	p       *project.Project
	catalog *Catalog
	level   Level
	turn    turn // to change register.json
	dir     serverDir
}

var _ ToolRegistry = (*Project)(nil)

// Open returns the registry of the project in a directory; "" looks for one as
// the commands do. It is set up by the environment of this process.
func Open(projectRoot string) (*Project, error) {
	env := project.OSEnv()
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	root, err := project.FindRoot(env, projectRoot, dir)
	if err != nil {
		return nil, err
	}
	return NewProject(project.Open(root, env, dir, func(string) {}), Options{}), nil
}

// NewProject returns the registry of a project that is open. Without a Runner
// it does not see what register.sh registers.
func NewProject(p *project.Project, o Options) *Project {
	catalog := NewCatalog(p, o)
	return &Project{
		p: p, catalog: catalog, level: EffectiveLevel(p, o.Log), turn: newTurn(),
		dir: serverDir{path: p.Server, wait: catalog.store.wait, try: tryLock},
	}
}

// Level returns the security level in effect.
func (r *Project) Level() Level { return r.level }

// RegisterTool is [ToolRegistry.RegisterTool].
func (r *Project) RegisterTool(reg ToolRegistration) error {
	_, err := r.Register(context.Background(), reg.payload(), RegisterOptions{})
	return err
}

// UnregisterTool is [ToolRegistry.UnregisterTool].
func (r *Project) UnregisterTool(id string) error {
	_, err := r.Unregister(context.Background(), id)
	return err
}

// GetTool is [ToolRegistry.GetTool]. Where the registry is not available there
// is no tool; [Project.Tool] says why.
func (r *Project) GetTool(id string) (ToolRegistration, bool) {
	t, err := r.Tool(context.Background(), id)
	return t.ToolRegistration, err == nil
}

// ListTools is [ToolRegistry.ListTools]. Where the registry is not available
// there are none; [Project.Tools] says why.
func (r *Project) ListTools() []ToolRegistration {
	tools, _ := r.Tools(context.Background())
	list := make([]ToolRegistration, len(tools))
	for i := range tools {
		list[i] = tools[i].ToolRegistration
	}
	return list
}

// Tool looks a tool up by its id, else by its name, in the registry as it is
// now. The error is an [*Error], a [*Failure] or the context's.
func (r *Project) Tool(ctx context.Context, id string) (RegisteredTool, error) {
	all, err := r.standings(ctx)
	if err != nil {
		return RegisteredTool{}, err
	}
	at := lookUp(all, id)
	if at < 0 {
		return RegisteredTool{}, notFound(id)
	}
	return all[at].tell(r.level), nil
}

// Tools returns all tools, sorted by name. The errors are those of
// [Project.Tool].
func (r *Project) Tools(ctx context.Context) ([]RegisteredTool, error) {
	all, err := r.standings(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]RegisteredTool, len(all))
	for i := range all {
		list[i] = all[i].tell(r.level)
	}
	slices.SortStableFunc(list, func(a, b RegisteredTool) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// standings looks at the project and brings its registry file up to date.
func (r *Project) standings(ctx context.Context) ([]standing, error) {
	s := r.catalog.state(Tools)
	if _, err := r.catalog.list(ctx, s, true); err != nil {
		return nil, explain(err)
	}
	if err := s.turn.take(ctx); err != nil {
		return nil, err
	}
	defer s.turn.give()
	o := s.last.Load()
	if o.err != nil {
		return nil, explain(o.err)
	}
	var manual *manualScan
	if o.list == s.made { // it is not a file as it is
		manual = s.inputs.manual
	}
	return standings(o.list, manual), nil
}

// tried returns what the tools of the project would be with other declarations.
// It writes nothing.
func (r *Project) tried(ctx context.Context, said *declarations) ([]standing, error) {
	s := r.catalog.state(Tools)
	if err := s.turn.take(ctx); err != nil {
		return nil, err
	}
	defer s.turn.give()
	from := origin{declared: said}
	if said != nil {
		from.manual = said.kinds[Tools.Key]
	}
	from.discover = from.manual == nil || from.manual.merge
	list, err := r.catalog.make(ctx, s, request{}, from)
	if err != nil {
		return nil, err
	}
	return standings(list, s.inputs.manual), nil
}

// lookUp is [indexOf].
func lookUp(all []standing, id string) int {
	tools := make([]found, len(all))
	for i := range all {
		tools[i] = all[i].found
	}
	return indexOf(tools, id)
}

// explain makes an [*Error] of a fault of register.json; other errors
// stay what they are.
func explain(err error) error {
	var fault *declaredFault
	switch {
	case !errors.As(err, &fault):
		return err
	case fault.insecure:
		return newError(ErrPermissionDenied, "", fault.text)
	default:
		return newError(ErrInvalidRegistration, "", fault.text, fault.text)
	}
}

// RegisterOptions are the options of [Project.Register].
type RegisterOptions struct {
	Replace bool // put it in place of a tool of the same id or name
	DryRun  bool // check everything and change nothing
}

// Register registers a tool, in the four steps of R-207. payload is a JSON
// object with the fields of an entry of register.json, or parameters instead of
// inputSchema. The error is an [*Error]; a [*Failure] when the lock was not to
// be had; the context's; or one of the file system.
func (r *Project) Register(ctx context.Context, payload []byte, o RegisterOptions) (RegisteredTool, error) {
	reg, faults := readRegistration(payload)
	denied := ""
	if reg.entry != nil {
		var fault string
		if fault, denied = r.checkPath(reg.path); fault != "" {
			faults = addFault(faults, fault)
		}
	}
	if err := reg.invalid(faults); err != nil {
		return RegisteredTool{}, err
	}
	if needed := LevelOf(reg.JSON); denied == "" && !r.level.Allows(needed) {
		denied = fmt.Sprintf("tool '%s' requires security level '%s' (current level: '%s'); see MCPBASH_SECURITY_LEVEL, and securityLevel in %s",
			reg.Name, needed, r.level, project.Marker)
	}
	if denied != "" {
		return RegisteredTool{}, newError(ErrPermissionDenied, reg.id, denied)
	}
	var registered RegisteredTool
	err := r.change(ctx, reg.id, o.DryRun, func(d *draft) error {
		if err := d.enter(&reg, o.Replace); err != nil {
			return err
		}
		after, err := d.judge(ctx)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(after, func(s standing) bool { return s.Name == reg.Name && s.id == reg.id && s.source == jsonFile })
		if at < 0 {
			return newError(ErrInvalidRegistration, reg.id, fmt.Sprintf("tool '%s' would not take effect beside the other entries of %s", reg.id, jsonFile))
		}
		d.warn(&reg, after)
		registered = after[at].tell(r.level)
		return nil
	})
	return registered, err
}

// Unregister takes a tool, given by its id or name, out of the registry, and
// returns its id. One that stays discovered is excluded. The errors are
// those of [Project.Register].
func (r *Project) Unregister(ctx context.Context, id string) (string, error) {
	err := r.change(ctx, id, false, func(d *draft) error {
		at := lookUp(d.before, id)
		if at < 0 {
			if err := d.allowed(id); err != nil {
				return err // it may well be one of register.sh
			}
			return notFound(id)
		}
		gone := d.before[at].found
		id = gone.id
		return d.remove(ctx, gone)
	})
	return id, err
}

// change lets edit change register.json. What it decides it decides under the
// lock, on what stands there then, so that nothing is lost.
func (r *Project) change(ctx context.Context, id string, dryRun bool, edit func(*draft) error) error {
	if r.p.Discovery.Static {
		return newError(ErrPermissionDenied, id, "the registry is static; unset MCPBASH_STATIC_REGISTRY to change it")
	}
	if err := r.turn.take(ctx); err != nil {
		return err
	}
	defer r.turn.give()
	if err := r.changeLocked(ctx, dryRun, edit); err != nil {
		var e *Error
		if isDenied(err) && !errors.As(err, &e) {
			return newError(ErrPermissionDenied, id, fmt.Sprintf("%s cannot be written: %s", jsonFile, plainError(err)))
		}
		if errors.As(err, &e) && e.ID == "" {
			e.ID = id
		}
		return err
	}
	if !dryRun {
		r.catalog.list(ctx, r.catalog.state(Tools), true) // tools.json; what fails is logged, and comes with the next look
	}
	return nil
}

func (r *Project) changeLocked(ctx context.Context, dryRun bool, edit func(*draft) error) error {
	dir := r.dir
	if !dryRun {
		if err := os.MkdirAll(dir.path, 0o755); err != nil {
			return err
		}
	}
	if err := r.checkServerDir(); err != nil {
		return err
	}
	if !dryRun {
		if err := dir.lock(ctx); err != nil {
			return err
		}
		defer dir.unlock()
	}
	d, err := r.draft(ctx)
	if err != nil {
		return explain(err)
	}
	was := d.text
	if err := edit(d); err != nil || dryRun || bytes.Equal(was, d.text) {
		return err
	}
	return dir.write(d.text)
}

// checkServerDir judges the place of register.json, and whether the
// file may be written to.
func (r *Project) checkServerDir() error {
	file := filepath.Join(r.p.Server, jsonFile)
	var insecure *project.InsecureError
	if err := r.p.CheckTrusted(file); errors.As(err, &insecure) {
		return newError(ErrPermissionDenied, "", faultf("permissions/ownership invalid: %s", insecure).text)
	}
	if info, err := os.Lstat(file); err == nil && info.Mode().Perm()&0o200 == 0 {
		return newError(ErrPermissionDenied, "", fmt.Sprintf("%s is not writable; run chmod u+w", file))
	}
	return nil
}

// checkPath judges the path of a script: a fault makes the registration
// invalid, denied refuses it.
func (r *Project) checkPath(file string) (fault, denied string) {
	label := labelOf(r.p.Root, r.p.Tools)
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
	abs := r.p.Tools + string(filepath.Separator) + local // as it will be called
	switch err := project.CheckScript(r.p.Tools, abs); {
	case errors.Is(err, project.ErrScriptPath):
		return "", fmt.Sprintf("path '%s' is refused: a script lies in %s/, belongs to you or root, and is writable by nobody else", file, label)
	case err != nil:
		return fmt.Sprintf("path: no file %s (it is relative to %s/)", shown, label), ""
	}
	if _, err := script.Command(abs); err != nil {
		return fmt.Sprintf("path: %s is not runnable; run chmod +x, or begin it with #!", shown), ""
	}
	return "", ""
}

// A draft is register.json on its way to another state.
type draft struct {
	*manuscript
	r      *Project
	fresh  bool       // there was no file
	before []standing // the tools as they are
}

// draft reads what there is.
func (r *Project) draft(ctx context.Context) (*draft, error) {
	text, err := readDeclared(r.p)
	if err != nil {
		return nil, err
	}
	d := &draft{r: r, fresh: text == nil}
	var said *declarations
	if d.fresh {
		text = []byte(`{"version":1}`)
	} else if said, err = r.parse(text); err != nil {
		return nil, err
	}
	d.manuscript = newManuscript(text)
	d.before, err = r.tried(ctx, said)
	return d, err
}

// enter adds a registration.
func (d *draft) enter(reg *registration, replace bool) error {
	if err := d.allowed(reg.id); err != nil {
		return err
	}
	target := -1 // the entry in whose place it goes
	var dead []int
	for _, match := range []func(id, name string) bool{
		func(id, _ string) bool { return id == reg.id },
		func(_, name string) bool { return name == reg.Name },
	} {
		for i, entry := range d.elements(Tools.Key) {
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
	if err := d.collision(reg, replace); err != nil {
		return err
	}
	if !d.has(Tools.Key) {
		if merge, _ := stringsOf(d.member("merge")); !slices.Contains(merge, Tools.Key) {
			d.add("merge", rawjson.Quote(Tools.Key))
		}
	}
	if target >= 0 {
		d.put(Tools.Key, target, reg.entry)
	} else {
		d.add(Tools.Key, reg.entry)
	}
	slices.Sort(dead)
	for _, i := range slices.Backward(dead) {
		d.cut(Tools.Key, i)
	}
	d.drop("exclude", reg.id, reg.Name)
	return nil
}

// knownBy returns the id and the name of an entry.
func knownBy(entry json.RawMessage) (id, name string) {
	name = rawjson.TextOf(entry, "name")
	if v := rawjson.Get(entry, "id"); isID(v) {
		id, _ = rawjson.Text(v)
		return id, name
	}
	return name, name
}

// collision returns the error for a registration whose id or name is taken
// . One may replace a tool, not two: when its id is that of one and its
// name that of another, it cannot be both.
func (d *draft) collision(reg *registration, replace bool) error {
	var one *standing
	for i := range d.before {
		s := &d.before[i]
		if !reg.collides(s.found) || s.path == path.Clean(reg.path) && s.isBare(d.r.p) {
			continue
		}
		if !replace {
			return reg.duplicateOf(s.found, Tools.shown(d.r.p, s.found))
		}
		if one != nil {
			other := s
			if other.id == reg.id {
				other = one
			}
			return reg.duplicateOf(other.found, Tools.shown(d.r.p, other.found))
		}
		one = s
	}
	return nil
}

// remove takes a tool out.
func (d *draft) remove(ctx context.Context, gone found) error {
	if err := d.allowed(gone.id); err != nil {
		return err
	}
	for i, entry := range slices.Backward(d.elements(Tools.Key)) {
		if id, name := knownBy(entry); id == gone.id || name == gone.Name {
			d.cut(Tools.Key, i)
		}
	}
	for range 2 { // by its id, by its name
		after, err := d.judge(ctx)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(after, func(s standing) bool { return s.id == gone.id || s.Name == gone.Name })
		if at < 0 {
			return nil
		}
		named := gone.id
		if after[at].id != gone.id {
			named = gone.Name
		}
		d.add("exclude", rawjson.Quote(named))
	}
	return nil
}

// allowed reports whether there may be a register.json: a new one would end
// what register.sh registers.
func (d *draft) allowed(id string) error {
	if !d.fresh || !d.r.p.Discovery.Hooks {
		return nil
	}
	if text, err := d.r.catalog.hook.script(); text == nil && err == nil {
		return nil
	}
	return newError(ErrInvalidRegistration, id, fmt.Sprintf("a new %s would switch off %s, which registers this project's tools; change it there", jsonFile, hookFile))
}

// judge returns what the tools will be with the changed text. A text that could
// not be read again is an error.
func (d *draft) judge(ctx context.Context) ([]standing, error) {
	if max := d.r.p.Discovery.MaxManual; len(d.text) > max {
		return nil, newError(ErrInvalidRegistration, "", fmt.Sprintf("%s would exceed %d bytes (MCPBASH_MAX_MANUAL_REGISTRY_BYTES)", jsonFile, max))
	}
	said, err := d.r.parse(d.text)
	if err != nil {
		return nil, explain(err)
	}
	return d.r.tried(ctx, said)
}

// parse reads a text as the programs of the project would.
func (r *Project) parse(text []byte) (*declarations, error) {
	said, err := parseDeclarations(text)
	if err != nil {
		return nil, err
	}
	return said, said.vet(r.p)
}

// warn tells which described tools a registration hides without being meant to
// replace them: those of the same script.
func (d *draft) warn(reg *registration, after []standing) {
	for i := range d.before {
		s := &d.before[i]
		stays := slices.ContainsFunc(after, func(a standing) bool { return a.Name == s.Name })
		if !stays && !reg.collides(s.found) && !s.isBare(d.r.p) {
			d.r.catalog.log(mcp.Warning, registryLogger, fmt.Sprintf("tool '%s' is no longer offered: '%s' takes its place (%s)", s.Name, reg.Name, Tools.shown(d.r.p, s.found)))
		}
	}
}

// member returns a member of the text.
func (d *draft) member(name string) json.RawMessage {
	p, found := d.value(name)
	if !found {
		return nil
	}
	return d.text[p.from:p.to]
}

// has reports whether a member holds an array.
func (d *draft) has(name string) bool {
	_, found := d.list(name)
	return found
}
