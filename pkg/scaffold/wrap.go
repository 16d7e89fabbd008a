package scaffold

import (
	"cmp"
	"context"
	_ "embed" // the files of a wrapped tool
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/jsonedit"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/script"
	"mcp-bash/pkg/usage"
)

// The texts of a wrapped tool.
var (
	//go:embed wrapped/tool.sh
	wrappedScript string
	//go:embed wrapped/README.md
	wrappedReadme string
	//go:embed wrapped/smoke.sh
	wrappedSmoke string
)

const (
	wrapFile       = ".wrap.json" // what a wrapped tool was made of, and what it was made (WRAP-40)
	wrapTimeout    = 30           // seconds
	maxList        = 100          // elements of a list of values
	maxDescription = 300
)

// CheckWords refuses words of a command line that are an option, as of a program that would
// run what follows, or that a comment of a script could not hold (WRAP-1).
func CheckWords(words []string) error {
	for _, word := range words {
		if word == "" || strings.HasPrefix(word, "-") || strings.ContainsFunc(word, func(r rune) bool {
			return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar
		}) {
			return cli.Usagef("%s is no word of a command line that can be wrapped", cli.Line(word))
		}
	}
	return nil
}

// NewPlan makes the plan of a tool. words are what tool.sh runs; file is the program that was
// found; name is that of the tool, "" for one made of the words.
func NewPlan(p *project.Project, prog *usage.Program, words []string, file, name string, c Choosing) (*Plan, error) {
	plan, err := choose(prog, c)
	if err != nil {
		return nil, err
	}
	plan.Words, plan.argv = words, slices.Clone(words)
	if head, err := project.ReadHead(file, 2); err == nil && string(head) == "#!" {
		plan.startsOthers("scripts mostly do")
	}
	if plan.Name = name; name == "" {
		plan.Name = toolName(append([]string{filepath.Base(words[0])}, words[1:]...))
	}
	if err := checkName(string(Tool), plan.Name); err != nil {
		return nil, err
	}
	switch {
	case !strings.ContainsRune(words[0], filepath.Separator):
		plan.Needs = words[0]
	case project.Within(p.Root, file): // tools start in the project's root
		plan.argv[0] = "./" + relative(p, file)
	default:
		plan.argv[0], plan.Needs = file, file
	}
	return plan, nil
}

// toolName makes the name of a tool of the words of a command line.
func toolName(words []string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-':
			return r
		}
		return '-'
	}, strings.Join(words, "-")), "-")
}

func unknownOption(p *usage.Program, name string) error {
	var names []string
	for _, o := range p.Options {
		for _, n := range o.Names {
			names = append(names, strings.TrimLeft(n, "-"))
		}
	}
	return cli.Usagef("%s has no option %s%s", strings.Join(p.Words, " "), name,
		cli.DidYouMean(strings.TrimLeft(name, "-"), names))
}

// files are those of the tool, without .wrap.json.
func (p *Plan) files(schemas string) []file {
	summary := p.Program.Summary
	if summary == "" {
		summary = "it says nothing about itself."
	}
	arguments := string(p.sample())
	program := p.argv[0]
	texts := strings.NewReplacer(
		"__NAME__", p.Name, "__COMMAND__", strings.Join(p.Words, " "), "__SUMMARY__", summary, "__BODY__", p.body(),
		"__REVIEW__", items(p.Review, "- [ ] ", "Nothing was guessed.\n"), "__LEFT__", p.leftOut(),
		"__PROGRAM__", inQuotes(program), "__ARGUMENTS__", inQuotes(arguments), "__SAMPLE__", inQuotes(arguments))
	tidy := func(s string) string { return strings.TrimRight(texts.Replace(s), "\n") + "\n" }
	return []file{
		{"tool.sh", tidy(wrappedScript), modeScript},
		{"tool.meta.json", string(p.metadata(schemas)) + "\n", modeFile},
		{"README.md", tidy(wrappedReadme), modeFile},
		{"smoke.sh", tidy(wrappedSmoke), modeScript},
	}
}

// inQuotes is a text as a word of the shell, in quotes even where it needs none.
func inQuotes(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// body are the lines of tool.sh that build the command line and run it (WRAP-31).
func (p *Plan) body() string {
	var b strings.Builder
	b.WriteString("argv=(")
	for i, word := range append(slices.Clone(p.argv), p.Fixed...) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(script.Quote(word))
	}
	b.WriteString(")\n")
	stdin := ""
	operand, dashes := 0, p.Program.Dashes
	put := func(at int) {
		if dashes && (p.Program.DashesAt < 0 || p.Program.DashesAt == at) {
			b.WriteString("argv+=(--)\n")
			dashes = false
		}
	}
	terms := "" // of an expression, which follows the operands
	for _, a := range p.Arguments {
		switch {
		case a.operand != nil:
			put(operand)
			operand++
		case a.option == nil:
			stdin = a.Property
			continue
		case p.Program.Expression && len(a.option.Name()) > 2:
			terms += a.line + "\n"
			continue
		}
		b.WriteString(a.line + "\n")
	}
	if p.Program.DashesAt >= 0 {
		put(operand)
	}
	b.WriteString(terms)
	b.WriteByte('\n')
	run := `"${argv[@]}"`
	if p.JSON {
		run = `mcp_argv_json "${argv[@]}"`
	}
	switch {
	case stdin != "":
		fmt.Fprintf(&b, "input=()\nmcp_argv_operand input .%s --any\n", stdin)
		fmt.Fprintf(&b, "if ((${#input[@]})); then\n  printf '%%s' \"${input[0]}\" | %s\nelse\n  %s\nfi\n", run, execed(run,
			p.JSON))
	default:
		b.WriteString(execed(run, p.JSON) + "\n")
	}
	return b.String()
}

func execed(run string, own bool) string {
	if own {
		return run
	}
	return "exec " + run
}

// metadata is tool.meta.json (WRAP-34).
func (p *Plan) metadata(schemas string) []byte {
	var b rawjson.Builder
	b.Object()
	if schemas != "" {
		b.Name("$schema").String(schemas + "/tool.schema.json")
	}
	description := fmt.Sprintf("%s\n\nRuns %s.", cmp.Or(p.Program.Summary, "Runs "+strings.Join(p.Words, " ")+"."),
		strings.Join(append(slices.Clone(p.Words), p.Fixed...), " "))
	b.Name("name").String(p.Name).Name("title").String(strings.Join(p.Words, " ")).Name("description").String(description)
	b.Name("inputSchema").Object().Name("type").String("object").Name("properties").Object()
	var required []string
	for _, a := range p.Arguments {
		b.Name(a.Property)
		a.schema(&b)
		if a.Required {
			required = append(required, a.Property)
		}
	}
	b.End()
	if len(required) > 0 {
		b.Name("required").Strings(required)
	}
	p.exclusive(&b)
	b.Name("additionalProperties").Bool(false).End()
	if p.ReadOnly || p.Destructive || slices.Contains(p.Capabilities, "Network") {
		b.Name("annotations").Object()
		if p.ReadOnly {
			b.Name("readOnlyHint").Bool(true)
		}
		if p.Destructive {
			b.Name("destructiveHint").Bool(true)
		}
		if slices.Contains(p.Capabilities, "Network") {
			b.Name("openWorldHint").Bool(true)
		}
		b.End()
	}
	if p.Capabilities != nil {
		b.Name("capabilities").Array()
		for _, c := range p.Capabilities {
			b.String(string(c))
		}
		b.End()
		if !slices.Contains(p.Capabilities, access.Process) { // a tool that declares something starts nothing else (CF-15)
			b.Name("confine").Object().Name("exec").Array().String(p.argv[0]).End().End()
		}
	}
	b.Name("timeoutSecs").Int(wrapTimeout).Name("validateInput").Bool(true).End()
	return rawjson.AppendIndent(nil, b.Bytes(), 0)
}

// schema writes the schema of one argument.
func (a *Argument) schema(b *rawjson.Builder) {
	b.Object()
	switch {
	case a.option != nil && a.option.Value == nil && a.option.Repeat:
		b.Name("type").String("integer").Name("minimum").Int(0).Name("maximum").Int(9)
	case a.option != nil && a.option.Value == nil:
		b.Name("type").String("boolean")
	case a.List:
		b.Name("type").String("array").Name("items").Object()
		a.typed(b)
		b.End()
		if a.Required {
			b.Name("minItems").Int(1)
		}
		b.Name("maxItems").Int(maxList)
	default:
		a.typed(b)
	}
	b.Name("description").String(a.describe()).End()
}

// typed writes what one value may be.
func (a *Argument) typed(b *rawjson.Builder) {
	optional := a.option != nil && a.option.Value.Optional
	types := []string{"string"}
	switch {
	case a.Kind == usage.Integer && a.Sure >= usage.Likely && a.operand == nil:
		types = []string{"integer"}
	case a.Kind == usage.Integer:
		types = []string{"integer", "string"}
	case a.Kind == usage.Number:
		types = []string{"number"}
	case a.Kind == usage.Duration || a.Kind == usage.Size:
		types = []string{"string", "number"}
	}
	if a.Kind == usage.Integer && optional {
		types = []string{"integer", "string"}
	}
	if optional {
		types = append(types, "boolean")
	}
	b.Name("type")
	if len(types) == 1 {
		b.String(types[0])
	} else {
		b.Strings(types)
	}
	if a.Kind == usage.Choice && a.Sure >= usage.Likely {
		b.Name("enum").Array()
		for _, c := range a.choices {
			b.String(c)
		}
		if optional {
			b.Bool(true)
		}
		b.End()
	}
	if a.Kind == usage.Path {
		b.Name("minLength").Int(1)
	}
}

// describe is what a model reads about an argument: the program's own words, then its name.
func (a *Argument) describe() string {
	text := a.Help
	if len(text) > maxDescription {
		text = strings.ToValidUTF8(text[:maxDescription], "")
		if at := strings.LastIndexByte(text, ' '); at > 0 {
			text = text[:at]
		}
		text += " ..."
	}
	var notes []string
	if a.option != nil {
		notes = append(notes, a.option.Name())
		if v := a.option.Value; v != nil && v.Name != "" && v.Name != a.option.Name() {
			notes[0] += " " + v.Name
		}
		if v := a.option.Value; v != nil && v.Optional {
			notes = append(notes, "true: without a value")
		}
	} else if a.operand != nil {
		notes = append(notes, a.Term)
	}
	if len(a.excludes) > 0 {
		notes = append(notes, "not with "+strings.Join(a.excludes, ", "))
	}
	switch a.Kind {
	case usage.Path:
		notes = append(notes, "a path")
	case usage.Duration:
		notes = append(notes, "a time")
	case usage.Size:
		notes = append(notes, "a size")
	case usage.URL:
		notes = append(notes, "a URL")
	}
	if len(notes) == 0 {
		return text
	}
	if text != "" {
		text += " "
	}
	return text + "(" + strings.Join(notes, "; ") + ")"
}

// exclude notes which arguments exclude each other.
func (p *Plan) exclude() {
	for _, group := range p.Program.Exclusive {
		var properties []string
		for _, name := range group {
			for _, a := range p.Arguments {
				if a.option != nil && a.option.Has(name) && !slices.Contains(properties, a.Property) {
					properties = append(properties, a.Property)
				}
			}
		}
		for _, one := range properties {
			a := p.argument(one)
			for _, other := range properties {
				if other != one && !slices.Contains(a.excludes, other) {
					a.excludes = append(a.excludes, other)
				}
			}
		}
	}
}

func (p *Plan) argument(property string) *Argument {
	for i := range p.Arguments {
		if p.Arguments[i].Property == property {
			return &p.Arguments[i]
		}
	}
	return nil
}

// exclusive says in the schema which arguments exclude each other. It does not use allOf and
// its kin, which some clients refuse at the top of a schema.
func (p *Plan) exclusive(b *rawjson.Builder) {
	open := false
	for _, a := range p.Arguments {
		if len(a.excludes) == 0 {
			continue
		}
		if !open {
			b.Name("dependentSchemas").Object()
			open = true
		}
		b.Name(a.Property).Object().Name("properties").Object()
		for _, other := range a.excludes {
			b.Name(other).Bool(false)
		}
		b.End().End()
	}
	if open {
		b.End()
	}
}

// sample are arguments that fit the schema: what is required.
func (p *Plan) sample() []byte {
	var b rawjson.Builder
	b.Object()
	for _, a := range p.Arguments {
		if !a.Required {
			continue
		}
		b.Name(a.Property)
		if a.List {
			b.Array()
		}
		switch {
		case a.option != nil && a.option.Value == nil && a.option.Repeat, a.Kind == usage.Integer, a.Kind == usage.Number:
			b.Int(1)
		case a.option != nil && a.option.Value == nil:
			b.Bool(true)
		case a.Kind == usage.Choice && len(a.choices) > 0:
			b.String(a.choices[0])
		case a.Kind == usage.Path:
			b.String("README.md")
		case a.Kind == usage.URL:
			b.String("https://example.com/")
		default:
			b.String("sample")
		}
		if a.List {
			b.End()
		}
	}
	return b.End().Bytes()
}

func items(list []string, before, none string) string {
	if len(list) == 0 {
		return none
	}
	return before + strings.Join(list, "\n"+before) + "\n"
}

// leftOut tells what the tool does not offer, by reason.
func (p *Plan) leftOut() string {
	var reasons []string
	names := map[string][]string{}
	for _, l := range p.LeftOut {
		if names[l.Why] == nil {
			reasons = append(reasons, l.Why)
		}
		names[l.Why] = append(names[l.Why], "`"+l.Term+"`")
	}
	var lines []string
	for _, why := range reasons {
		lines = append(lines, strings.Join(names[why], ", ")+": "+why)
	}
	return items(lines, "- ", "Nothing.\n")
}

// base is .wrap.json: how the tool was made, and the texts as they were made.
func (p *Plan) base(c Choosing, files []file) file {
	var b rawjson.Builder
	b.Object().Name("version").Int(1).Name("command").Strings(p.Words).Name("maxOptions").Int(c.Max)
	if len(c.Only) > 0 {
		b.Name("only").Strings(c.Only)
	}
	if len(c.Without) > 0 {
		b.Name("without").Strings(c.Without)
	}
	b.Name("files").Object()
	for _, f := range files {
		b.Name(f.path).String(f.text)
	}
	b.End().End()
	return file{wrapFile, string(rawjson.AppendIndent(nil, b.Bytes(), 0)) + "\n", modeFile}
}

// A Wrapping is what Wrap does.
type Wrapping struct {
	Choosing
	Force  bool
	DryRun bool
}

// Wrap writes the tools of plans, all or none (WRAP-30). warn is told what may keep them from
// working.
func Wrap(ctx context.Context, p *project.Project, plans []*Plan, w Wrapping, warn func(string)) (made []*Item,
	err error) {
	base := p.Root
	if !project.Within(base, p.Tools) { // the operator put them elsewhere (CLI-404)
		base = filepath.Dir(p.Tools)
	}
	at, err := openPlace(ctx, base)
	if err != nil {
		return nil, err
	}
	defer func() { at.close(err) }()
	at.many = len(plans) > 1
	for _, plan := range plans {
		dir := filepath.Join(p.Tools, plan.Name)
		rel, err := filepath.Rel(base, dir)
		if err != nil {
			return nil, err
		}
		rel = filepath.ToSlash(rel)
		files := plan.files(schemasFrom(p, dir))
		files = append(files, plan.base(w.Choosing, files))
		item := &Item{Kind: Tool, Name: plan.Name, Path: dir}
		for _, f := range files {
			item.Files = append(item.Files, relative(p, filepath.Join(dir, f.path)))
		}
		made = append(made, item)
		there, err := at.vacant(rel, files, Request{Kind: Tool, Force: w.Force})
		switch {
		case err != nil:
			return nil, err
		case w.DryRun:
		case there:
			for _, f := range files {
				f.path = path.Join(rel, f.path)
				if err := at.put(f); err != nil {
					return nil, err
				}
			}
		default:
			if err := at.putDir(rel, string(Tool), files); err != nil {
				return nil, err
			}
		}
	}
	if w.DryRun {
		return made, nil
	}
	if err := require(ctx, p, plans); err != nil {
		return nil, err
	}
	for _, item := range made {
		warnRefused(p, filepath.Join(item.Path, "tool.sh"), warn)
	}
	return made, nil
}

// maxRequirements bounds server.d/requirements.json.
const maxRequirements = 1 << 20

// require enters the programs that tools need into server.d/requirements.json, where doctor
// and validate look for them (CLI-1109, WRAP-38).
func require(ctx context.Context, p *project.Project, plans []*Plan) (err error) {
	at, err := openPlace(ctx, filepath.Dir(p.Server))
	if err != nil {
		return err
	}
	defer func() { at.close(err) }()
	f := file{path: path.Join(filepath.Base(p.Server), "requirements.json"), mode: modeFile, text: "{}\n"}
	info, err := at.look(f.path)
	if err != nil {
		return err
	}
	if info != nil {
		if !info.Mode().IsRegular() {
			return inTheWay(at.abs(f.path), info)
		}
		if f.text, err = at.read(f.path, maxRequirements); err != nil {
			return err
		}
		f.mode = info.Mode().Perm()
	}
	if doc, err := rawjson.Check([]byte(f.text)); err != nil || rawjson.KindOf(doc) != rawjson.Object {
		return cli.Failf(cli.CodeInvalid, "%s is no JSON object; mend it first", at.abs(f.path))
	}
	doc := jsonedit.New([]byte(f.text))
	changed := false
	for _, plan := range plans {
		if plan.Needs != "" && !named(doc.Elements("dependencies"), plan.Needs) {
			var b rawjson.Builder
			doc.Append("dependencies", b.Object().Name("name").String(plan.Needs).End().Bytes())
			changed = true
		}
	}
	if !changed {
		return nil
	}
	f.text = strings.TrimRight(string(doc.Text), "\n") + "\n"
	return at.put(f)
}

// named reports whether a program is among dependencies.
func named(list []json.RawMessage, name string) bool {
	return slices.ContainsFunc(list, func(v json.RawMessage) bool { return rawjson.TextOf(v, "name") == name })
}
