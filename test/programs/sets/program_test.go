//go:build programs

package sets

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// set is the folder of the test set. It has JSON files, and the script that fetches their programs.
var set = flag.String("set", "development", "folder of the test set")

// A program is a file of facts about one command, with tasks.
type program struct {
	name string

	Command []string
	Style   string
	// Recipe reports that the issue names the program among those that have a recipe.
	Recipe  bool
	Options []option
	// Others are names of options that exist. Nothing else is known about them. An asterisk means that there are more.
	Others   []string
	Operands []operand
	// MostOperands is the maximum number of operands that the documentation supports. 0 is the number of Operands.
	MostOperands int
	// OptionsLast reports that the options follow the operands. Form is "equals" for --opt=value.
	OptionsLast bool
	Form        string
	// Used are the options that people use most. Dangerous are options with the reason.
	Used      []string
	Dangerous map[string]string
	Tasks     []task
}

type option struct {
	Names []string
	// Kind is a kind of wrap --json. Alternatives are separated by a vertical bar.
	Kind   string
	Repeat bool
	Form   string // "equals", if only this option of the program has the form
}

type operand struct {
	Name             string
	Required, Repeat bool
	After            string // a word before the operand, such as --
	Option           string // the option that has the same effect, such as -e of rg
}

// A task is a call in the spelling of the program. {http} is the address of a web server.
type task struct {
	Task     string
	Files    map[string]string // fixtures
	Setup    string            // a shell script that makes more fixtures
	Options  [][]string        // an option, and its value if it has one
	Operands map[string][]string
	Stdin    string
	Contains []string // parts of the result, with alternatives separated by ||
	Absent   []string // texts that are not in the result
	// Wrote maps files to a part of their text. A name that ends with a slash is a directory.
	Wrote map[string]string
	Exit  int // the program's exit code. If it is not 0, the tool may report an error.
	// Run is false if the program cannot run here. A stub prints its arguments then, one on each line, and the task works
	// if every word of its options and operands is among them.
	Run *bool
}

// runs reports whether the task is done with the program itself.
func (k task) runs() bool { return k.Run == nil || *k.Run }

// programs reads all files of the set.
func programs(t *testing.T) (list []*program) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(*set, "*.json"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		p := &program{name: strings.TrimSuffix(filepath.Base(file), ".json")}
		if err == nil {
			err = json.Unmarshal(text, p)
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		list = append(list, p)
	}
	if len(list) == 0 {
		t.Fatalf("%s has no programs", *set)
	}
	return list
}

// dangerous returns the options of a task that are dangerous, as the task spells them.
func (p *program) dangerous(k task) (names []string) {
	for _, words := range k.Options {
		isDangerous := func(name string) bool { return p.Dangerous[name] != "" }
		if slices.ContainsFunc(p.spellings(words[0]), isDangerous) && !slices.Contains(names, words[0]) {
			names = append(names, words[0])
		}
	}
	return names
}

// spellings returns all names of an option.
func (p *program) spellings(name string) []string {
	for _, o := range p.Options {
		if slices.Contains(o.Names, name) {
			return o.Names
		}
	}
	return []string{name}
}

// words returns the options and operands of a task as the program gets them.
func (p *program) words(k task) []string {
	options := p.optionWords(k.Options)
	var operands []string
	for _, o := range p.Operands {
		values := k.Operands[o.Name]
		if o.After != "" && len(values) > 0 {
			operands = append(operands, o.After)
		}
		operands = append(operands, values...)
	}
	if p.OptionsLast {
		return slices.Concat(operands, options)
	}
	return slices.Concat(options, operands)
}

func (p *program) optionWords(options [][]string) (words []string) {
	for _, o := range options {
		equals := p.Form == "equals" || slices.ContainsFunc(p.Options, func(known option) bool {
			return known.Form == "equals" && slices.Contains(known.Names, o[0])
		})
		if equals && len(o) == 2 {
			words = append(words, o[0]+"="+o[1])
			continue
		}
		words = append(words, o...)
	}
	return words
}

// parts returns the program with the tasks that run it, and with those that run a stub.
func (p *program) parts() (real, stubbed *program) {
	one, other := *p, *p
	one.Tasks, other.Tasks = nil, nil
	for _, k := range p.Tasks {
		if k.runs() {
			one.Tasks = append(one.Tasks, k)
		} else {
			other.Tasks = append(other.Tasks, k)
		}
	}
	return &one, &other
}

// lacks returns the first word of a task that a stub did not print, or "". Paths below the directory count as relative.
func (p *program) lacks(k task, output, dir string) string {
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(output, dir+"/", ""), dir, "."), "\n")
	has := func(word string, names ...string) bool {
		word = strings.TrimRight(word, "/")
		return slices.ContainsFunc(lines, func(line string) bool {
			line = strings.TrimRight(line, "/")
			return line == word || strings.HasPrefix(line, "-") && strings.HasSuffix(line, "="+word) ||
				slices.ContainsFunc(names, func(name string) bool { return line == name+word || line == name+"="+word })
		})
	}
	for _, o := range k.Options {
		names := p.spellings(o[0])
		if len(o) == 1 && !slices.ContainsFunc(names, func(name string) bool { return has(name) }) {
			return o[0]
		}
		for _, value := range o[min(1, len(o)):] {
			on := value == "true" && slices.ContainsFunc(names, func(name string) bool { return has(name) })
			if !on && !has(value, names...) {
				return o[0] + " " + value
			}
		}
	}
	for _, o := range p.Operands {
		for _, value := range k.Operands[o.Name] {
			if !has(value, o.Option) {
				return value
			}
		}
	}
	return ""
}

// prepare makes the fixtures of a task in a directory.
func (k task) prepare(t *testing.T, dir string, env []string) {
	t.Helper()
	for name, text := range k.Files {
		file := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if err == nil {
			err = os.WriteFile(file, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if k.Setup == "" {
		return
	}
	cmd := exec.Command("sh", "-ec", k.Setup)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", k.Setup, err, out)
	}
}

// wrong returns the first thing that is wrong with the output of a task and the files in a directory, or "".
// Paths below the directory count as relative.
func (k task) wrong(output, dir string) string {
	output = strings.ReplaceAll(output, dir+"/", "")
	for _, text := range k.Contains {
		if !slices.ContainsFunc(strings.Split(text, "||"), func(part string) bool { return strings.Contains(output, part) }) {
			return "the result lacks " + text
		}
	}
	for _, text := range k.Absent {
		if strings.Contains(output, text) {
			return "the result has " + text
		}
	}
	for name, text := range k.Wrote {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return name + " is missing"
		}
		if info.IsDir() {
			continue
		}
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(b), text) {
			return name + " lacks " + text
		}
	}
	return ""
}

// local returns the task with the address of the web server.
func (k task) local(http string) task {
	operands := map[string][]string{}
	for name, values := range k.Operands {
		for _, v := range values {
			operands[name] = append(operands[name], strings.ReplaceAll(v, "{http}", http))
		}
	}
	k.Operands = operands
	return k
}
