// Package shellscript reads shell scripts. It finds options and operands, environment variables, programs that a script
// starts, questions that it asks, and files that it writes. It never runs the script.
//
//	s, err := shellscript.Read(text, nil)
//	for _, a := range s.Arguments { fmt.Println(a.Name, a.Options, a.Required) }
//
// The code decides what exists, and the usage text gives the words. Conclusions from the code are certain. The rest
// is a [Doubt], which a person confirms.
//
// A reader follows the statements in the order in which they run, and binds variables to arguments. Its frame has the
// positional parameters of the current function call. A dataFlow then follows data backwards, from arithmetic to
// arguments:
//
//	f() { size=$1; }  # in the frame of the call below, $1 is the second argument of the script
//	f "$2"            # now byVariable["size"] is this argument
//	((size > 3))      # a site of arithmetic, and data flows there from size: the argument is an integer
package shellscript

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/helptext"
	"mvdan.cc/sh/v3/syntax"
)

// MaxSize is the largest script that is read, in bytes.
const MaxSize = 1 << 20

// A Script is a script as its text describes it.
type Script struct {
	Description string
	// Arguments are the options, then the operands in their order.
	Arguments []*Argument
	Variables []Variable
	Programs  []string // names of programs, and "./NAME" for files next to the script, sorted
	// Unknown reports that the script starts programs that are known only when it runs.
	Unknown     bool
	Sources     []string // files next to the script that it sources
	Library     bool     // it only defines functions, for scripts that source it
	Questions   []Question
	Effects     Effects
	Doubts      []Doubt
	Trial       *Trial // a call that only prints, or nil
	NoTrialLine int    // otherwise, the line of the command that can do more, or 0
}

// An Argument is an option, or an operand if it has no Options.
type Argument struct {
	Name    string   // "keep"
	Options []string // "-k", "--keep"
	Value   bool     // it has a value; false is a flag
	Equals  bool     // the value follows "=" and cannot be another word
	Repeat  bool
	// Required is true only if the script ends without the argument.
	Required   bool
	Default    *string
	Choices    []string
	Kind       Kind
	NoCommands bool   // the text must not contain commands, as in $(command)
	Text       string // a description
	Line       int
	Doubts     []DoubtKind
	variable   string // the variable that has the value
	optional   bool   // the script works without it
	certain    bool   // each run assigns it to the variable
	message    string // the name in the message for a missing value
	position   int    // n if the operand is $n after the options
}

// A Kind is the kind of an argument's values.
type Kind int

// The kinds of values.
const (
	Text Kind = iota
	Integer
	File      // the script tests whether the file exists
	Directory // the script tests whether the directory exists
	Input     // standard input
)

// A Variable comes from the environment.
type Variable struct {
	Name     string
	Required bool
	Default  string
	Line     int
}

// A Question is asked on the terminal.
type Question struct {
	Text    string
	Secret  bool
	YesNo   bool
	Choices []string
	Line    int
}

// Effects are what the script does outside its own process, as far as its text shows it.
type Effects struct {
	Writes          bool // files
	Network         bool
	Destroys        bool // deletes or publishes something that it did not create
	Root            bool // needs sudo or the superuser
	Endless         bool // does not end by itself
	Terminal        bool // needs a terminal
	WritePaths      []string
	ReadPaths       []string
	OwnFolder       bool     // finds files next to itself
	WritesOwnFolder bool     // writes next to itself
	InOwnFolder     bool     // changes to its own folder, so relative paths are there
	Settings        []string // files in the home directory that its programs read: "~/.gitconfig"
	Secrets         []string // the same, and they can contain secrets
	Line            int      // of the first destructive command
}

// A DoubtKind is a reason why a conclusion is not certain.
type DoubtKind string

// The kinds of doubts.
const (
	DoubtName     DoubtKind = "name"     // no name was found, or it is only likely
	DoubtRequired DoubtKind = "required" // nothing shows what happens without the argument
	DoubtPassedOn DoubtKind = "meaning"  // the words go to another program as they are
	DoubtValue    DoubtKind = "value"    // nothing reads the value
	DoubtOptions  DoubtKind = "options"  // options are read in a way that was not understood
	DoubtPrograms DoubtKind = "programs" // the programs are known only when the script runs
	DoubtPurpose  DoubtKind = "description"
	DoubtShared   DoubtKind = "temporary" // it writes in the folder that all programs share
	DoubtUsage    DoubtKind = "usage"     // the usage text names an option that the code does not have
)

// A Doubt is a point that a person should check.
type Doubt struct {
	Kind DoubtKind
	What string // the argument, variable or option
	Line int
}

// A SyntaxError means that Bash cannot read the script either, or that the script is nested too deeply.
type SyntaxError struct {
	Line  int
	Cause string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Cause) }

// ErrSize is the error for a script above [MaxSize].
var ErrSize = fmt.Errorf("larger than %d bytes", MaxSize)

// Files reads a file by its path from the folder of the script, such as ../lib.sh, or returns nil.
type Files func(name string) []byte

// Read reads a script of Bash or a POSIX shell. nextTo reads files that the script sources; it may be nil. Errors are
// [ErrSize] and [*SyntaxError].
func Read(text []byte, nextTo Files) (*Script, error) {
	if len(text) > MaxSize {
		return nil, ErrSize
	}
	text = bytes.TrimPrefix(text, rawjson.ByteOrderMark)
	file, err := parse(text)
	if err != nil {
		return nil, err
	}
	r := &reader{
		facts: facts{
			functions: map[string]*syntax.FuncDecl{}, assignments: map[string][]*syntax.Assign{},
			definitions: map[string][]site{}, calls: map[string][]site{}, associative: map[string]bool{},
			subscripts: map[string][]site{},
		},
		script: &Script{}, file: file, lines: strings.Split(string(text), "\n"), nextTo: nextTo,
		constants: map[string]*string{}, names: Names{}, initialValues: map[string]string{},
		byVariable: map[string]*Argument{}, operandAt: map[int]*Argument{}, resolved: map[*syntax.ParamExp][]*Argument{},
		ofCurrentWord: map[*syntax.ParamExp]bool{}, ofFrame: map[*syntax.ParamExp]bool{}, forwardsAll: map[string]bool{},
		resolvedSets: map[*syntax.CallExpr]bool{}, active: map[*syntax.FuncDecl]bool{}, frame: &frame{},
		functionOutcomes: map[string]outcome{}, takesOne: map[*syntax.FuncDecl]bool{},
	}
	r.scriptFrame = r.frame
	r.readNounset(r.lines[0]) // #!/bin/bash -eu
	r.collect("", file)
	r.readSources()
	r.readUsage()
	r.statements(file.Stmts, true)
	r.finishArguments()
	r.describe()
	r.findEffects()
	r.addStdin()
	r.script.Library = isLibrary(file)
	r.script.Trial, r.script.NoTrialLine = r.trial()
	return r.script, nil
}

// isLibrary reports whether a file only declares functions and variables.
func isLibrary(file *syntax.File) bool {
	functions := 0
	for _, stmt := range file.Stmts {
		switch stmt.Cmd.(type) {
		case *syntax.FuncDecl:
			functions++
		case *syntax.DeclClause:
		case *syntax.CallExpr:
			if !slices.Contains([]string{"", "set", "shopt", "source", "."}, commandName(stmt.Cmd)) {
				return false
			}
		default:
			return false
		}
	}
	return functions > 0
}

func parse(text []byte) (*syntax.File, error) {
	parser := syntax.NewParser(syntax.KeepComments(true), syntax.Variant(syntax.LangBash))
	file, err := parser.Parse(bytes.NewReader(text), "")
	var failed syntax.ParseError
	var language syntax.LangError
	switch {
	case errors.As(err, &failed):
		return nil, &SyntaxError{int(failed.Pos.Line()), failed.Text}
	case errors.As(err, &language):
		return nil, &SyntaxError{int(language.Pos.Line()), language.Feature + " is of another shell"}
	case err != nil:
		return nil, err
	}
	return file, checkDepth(file)
}

// maxDepth limits the depth of a syntax tree, because functions look at all nodes below a node.
const maxDepth = 2000

// checkDepth returns an error for a script that is nested too deeply.
func checkDepth(file *syntax.File) error {
	var err error
	depth := 0
	syntax.Walk(file, func(n syntax.Node) bool {
		switch {
		case n == nil:
			depth--
		case depth == maxDepth:
			err = &SyntaxError{int(n.Pos().Line()), "commands are nested too deeply"}
		default:
			depth++
		}
		return err == nil
	})
	return err
}

// A reader follows the statements of a script and collects its arguments.
type reader struct {
	facts
	script           *Script
	file             *syntax.File
	lines            []string
	nextTo           Files
	functionOutcomes map[string]outcome               // results of outcomeOfFunction
	takesOne         map[*syntax.FuncDecl]bool        // results of takesOneValue
	constants        map[string]*string               // values of variables as text; nil: not known
	names            Names                            // of arguments
	initialValues    map[string]string                // literal values of variables before the options are read
	byVariable       map[string]*Argument             // arguments by the variable that has their value
	operandAt        map[int]*Argument                // operands by position: 1 is $1, after the options
	active           map[*syntax.FuncDecl]bool        // functions that are followed now, or were called with "$@"
	ofFrame          map[*syntax.ParamExp]bool        // expansions of $1 … in a function or after set --
	shiftingLoops    []syntax.Node                    // loops in which $1 changes
	partialTaint     bool                             // a part of a text reaches an arithmetic expression
	partialStdin     bool                             // a part of standard input reaches one
	resolved         map[*syntax.ParamExp][]*Argument // the arguments that expansions have
	ofCurrentWord    map[*syntax.ParamExp]bool        // expansions of the current word of a loop
	forwardsAll      map[string]bool                  // functions that the script calls with "$@"
	resolvedSets     map[*syntax.CallExpr]bool        // set -- with known words
	followedBytes    uint                             // the size of the functions whose calls were followed
	frame            *frame
	scriptFrame      *frame    // the frame outside of functions and branches
	restOperand      *Argument // the operand for "$@", with a list of values
	operandArray     string    // the array in which a loop collects the operands
	noOperands       bool      // the script rejects operands
	setsWords        bool      // set -- adds words, so "$@" is not empty
	nounset          bool      // set -u, and nothing before can end the script well or set its words
	help             helptext.Help
	countRules       []countRule
	testedVariables  []Variable     // environment variables that the script tests
	optionsRead      bool           // a loop read the options
	sources          []*syntax.File // files that the script sources
	missingSource    bool           // it sources a file that could not be read
}

func (r *reader) doubt(kind DoubtKind, what string, line int) {
	r.script.Doubts = append(r.script.Doubts, Doubt{kind, what, line})
}
