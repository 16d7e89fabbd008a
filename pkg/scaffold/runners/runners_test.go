package runners

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// write writes the files of a project and returns its directory.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "app")
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// show writes targets as lines: the name, the description, and the command line.
func show(targets []Target) string {
	var b strings.Builder
	for _, target := range targets {
		fmt.Fprintf(&b, "%s | %s |", target.Name, target.Recipe.Summary)
		for _, a := range target.Recipe.Arguments {
			fmt.Fprintf(&b, " %s", strings.Join(a.Words, " "))
			if a.Name != "" {
				fmt.Fprintf(&b, "%s:%s:%v:%v", a.Option, a.Name, a.Required, a.Repeat)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// read reads the project of a runner in a directory. printed is what the runner prints.
func read(t *testing.T, program, dir, printed string) ([]Target, []Skipped) {
	t.Helper()
	r := Of(program)
	file := r.Find(dir)
	if file == "" {
		t.Fatalf("%s: no project file in %s", program, dir)
	}
	targets, skipped, err := r.Read(Source{File: file, Dir: "app", Print: func(...string) ([]byte, error) {
		return []byte(printed), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return targets, skipped
}

// WRAP-80: targets of make that are phony or documented.
func TestMake(t *testing.T) {
	dir := write(t, map[string]string{
		"Makefile": `# The compiler.
CC ?= gcc
PREFIX ?= /usr ## Where to install
## Also a "variable"
export LEVEL := 3
EXTRAFLAGS = -x ## Never offered
UNSAID = 1
X := $(shell touch ran)
include more.mk $(X).mk ../outside.mk
-include missing.mk
ifeq ($(X),a:b)
endif
define text
inner: ## no target
endef
.PHONY: all clean \
  far
##@ Section
all: build far ; echo ## not a comment of make
# Removes the
# build directory
clean::
	rm -rf build # x: y
	@echo test: ## a command
build: main.o ## Builds it
%.o: %.c
main.o: main.c
build: VERBOSE=1
$(OBJS): x
far near&:
.hidden: ## hidden
bad!name: ## no word
`,
		"more.mk": "deploy: ## Copies it\u202e to \x1b[31mthe   server\n",
	})
	targets, skipped := read(t, "make", dir, "")
	const before = "-C app --no-print-directory -- "
	const variables = " PREFIX:PREFIX:false:false LEVEL:LEVEL:false:false\n"
	want := `deploy | Runs the target deploy of app/Makefile. The file says: "Copies it to [31mthe server" | ` + before +
		"deploy" + variables +
		`all | Runs the target all of app/Makefile. The file says: "not a comment of make" | ` + before + "all" + variables +
		`clean | Runs the target clean of app/Makefile. The file says: "Removes the build directory" | ` + before + "clean" +
		variables +
		`build | Runs the target build of app/Makefile. The file says: "Builds it" | ` + before + "build" + variables +
		`far | Runs the target far of app/Makefile. | ` + before + "far" + variables
	if got := show(targets); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if len(skipped) != 1 || skipped[0].Name != "bad!name" {
		t.Errorf("%+v", skipped)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); !errors.Is(err, os.ErrNotExist) {
		t.Error("make read the makefile")
	}
	if a := targets[0].Recipe.Arguments[3]; !strings.Contains(a.Description,
		`The file says: "Also a 'variable'". Letters`) {
		t.Errorf("%+v", a)
	}
}

// WRAP-80: a makefile without descriptions of its targets.
func TestMakePlain(t *testing.T) {
	dir := write(t, map[string]string{"makefile": "all: out.txt\nout.txt: in\n\ttouch $@\ntest:\n"})
	targets, skipped := read(t, "make", dir, "")
	if got := show(targets); !strings.HasPrefix(got, "all |") || len(targets) != 2 || len(skipped) != 1 {
		t.Error(got, skipped)
	}
}

// WRAP-81: scripts of npm, without those that npm runs by itself.
func TestNPM(t *testing.T) {
	dir := write(t, map[string]string{"package.json": `{"scripts":{"build:prod":"tsc -p .","prebuild:prod":"x",
		"postinstall":"y","pretty":"prettier .","a b":"z","n":1}}`})
	targets, skipped := read(t, "npm", dir, "")
	const before = "--prefix app --no-update-notifier --logs-max=0 run "
	want := `build:prod | Runs the script build:prod of app/package.json. The file says: "tsc -p ." | ` + before +
		"build:prod\n" + `pretty | Runs the script pretty of app/package.json. The file says: "prettier ." | ` + before +
		"pretty\n"
	if got := show(targets); got != want || len(skipped) != 3 {
		t.Errorf("got\n%s\nwant\n%s%v", got, want, skipped)
	}
	for _, text := range []string{"", "[]x", `{"scripts":[]}`} {
		dir := write(t, map[string]string{"package.json": text})
		if _, _, err := Of("npm").Read(Source{File: filepath.Join(dir, "package.json")}); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

// WRAP-82: the list of recipes that just prints.
func TestJust(t *testing.T) {
	dir := write(t, map[string]string{"Justfile": ""})
	targets, skipped := read(t, "just", dir, `{"recipes":{
		"build":{"doc":"Build it","parameters":[{"name":"target","kind":"singular","default":"all"},
			{"name":"flags","kind":"star","default":null}]},
		"greet":{"doc":null,"parameters":[{"name":"who-is","kind":"singular","default":null},
			{"name":"rest","kind":"plus"}]},
		"_x":{"private":true},"wipe":{"attributes":["private",{"confirm":null}]},"drop":{"attributes":["confirm"]},
		"opt":{"parameters":[{"name":"a","long":"all"}]},"odd":{"parameters":[{"name":"é"}]}},
		"modules":{"sub":{"recipes":{"inner":{"doc":"in sub"}}}}}`)
	const before = "--justfile app/Justfile --working-directory app -- "
	want := `build | Runs the recipe build of app/Justfile. The file says: "Build it" | ` + before +
		"build :target:false:false :flags:false:true\n" +
		`greet | Runs the recipe greet of app/Justfile. | ` + before + "greet :who_is:true:false :rest:true:true\n" +
		`sub::inner | Runs the recipe sub::inner of app/Justfile. The file says: "in sub" | ` + before + "sub::inner\n"
	if got := show(targets); got != want || len(skipped) != 4 {
		t.Errorf("got\n%s\nwant\n%s%v", got, want, skipped)
	}
}

// WRAP-83: the list of tasks that task prints.
func TestTask(t *testing.T) {
	dir := write(t, map[string]string{"Taskfile.yml": ""})
	targets, skipped := read(t, "task", dir, `{"tasks":[{"name":"docs:gen","desc":"","summary":"Long\ntext"},
		{"name":"start:*"},{"name":"docs:gen"}]}`)
	want := `docs:gen | Runs the task docs:gen of app/Taskfile.yml. The file says: "Long text" | ` +
		"--dir app --color=false docs:gen\n"
	if got := show(targets); got != want || len(skipped) != 1 {
		t.Errorf("got\n%s\nwant\n%s%v", got, want, skipped)
	}
}

// WRAP-84: a project file that is too large, or not a file.
func TestFiles(t *testing.T) {
	dir := write(t, map[string]string{"Makefile": strings.Repeat("#\n", maxFile)})
	_, _, err := Of("make").Read(Source{File: Of("make").Find(dir)})
	if err == nil || !strings.Contains(err.Error(), "Makefile: larger than 1048576 bytes") {
		t.Error(err)
	}
	dir = write(t, map[string]string{"package.json/x": ""})
	if got := Of("npm").Find(dir); got != "" {
		t.Error(got)
	}
	if Of("rg") != nil {
		t.Error("rg runs no tasks")
	}
}

// checkTargets checks that no foreign text of targets harms a reader or a shell.
func checkTargets(t *testing.T, p *project) {
	t.Helper()
	if len(p.targets) > maxTargets || len(p.skipped) > maxTargets {
		t.Errorf("%d targets, %d skipped", len(p.targets), len(p.skipped))
	}
	harmless := func(text string, max int) {
		if len(text) > max || strings.ContainsFunc(text, func(r rune) bool {
			return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar
		}) {
			t.Errorf("%q", text)
		}
	}
	for _, target := range p.targets {
		harmless(target.Recipe.Summary, 4*maxDescription)
		if strings.ContainsAny(target.Name, " \t\n$`\"'\\;&|<>(){}*?!%=") || strings.HasPrefix(target.Name, "-") {
			t.Errorf("%q", target.Name)
		}
		for _, a := range target.Recipe.Arguments {
			harmless(a.Description, 4*maxDescription)
			harmless(strings.Join(a.Words, " "), 1000)
			if a.Name != "" && (!isProperty.MatchString(a.Name) || a.Pattern == "") {
				t.Errorf("%+v", a)
			}
		}
	}
	for _, s := range p.skipped {
		harmless(s.Name, maxName)
	}
}

func FuzzMakefile(f *testing.F) {
	f.Add(".PHONY: a\na: b ## does\\\n it\nV ?= 1 ## v\ndefine x\nendef\n")
	f.Add("include x\n-é&: # \x00\n")
	f.Fuzz(func(t *testing.T, text string) {
		dir := write(t, map[string]string{"Makefile": text})
		p := &project{Runner: Of("make"), Source: Source{File: filepath.Join(dir, "Makefile"), Dir: "app"}}
		if err := p.parseMakefile([]byte(text)); err == nil {
			checkTargets(t, p)
		}
	})
}

func FuzzPackage(f *testing.F) {
	f.Add(`{"scripts":{"a":"b","-x":"$(y)","` + "\u202e" + `":""}}`)
	f.Fuzz(func(t *testing.T, text string) {
		p := &project{Runner: Of("npm"), Source: Source{File: "/app/package.json", Dir: "app"}}
		if err := p.parsePackage([]byte(text)); err == nil {
			checkTargets(t, p)
		}
	})
}

func FuzzDump(f *testing.F) {
	f.Add(`{"recipes":{"a":{"doc":"x","parameters":[{"name":"p","default":["a"],"kind":"plus","help":"h"}]}},
		"modules":{"m":{}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		p := &project{Runner: Of("just"), Source: Source{File: "/app/justfile", Dir: "app"}}
		if err := p.parseDump([]byte(text)); err == nil {
			checkTargets(t, p)
		}
	})
}

func FuzzTasks(f *testing.F) {
	f.Add(`{"tasks":[{"name":"a","desc":"b","summary":"c"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		p := &project{Runner: Of("task"), Source: Source{File: "/app/Taskfile.yml", Dir: "app"}}
		if err := p.parseTasks([]byte(text)); err == nil {
			checkTargets(t, p)
		}
	})
}
