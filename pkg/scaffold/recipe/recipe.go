// Package recipe describes the command lines of programs, so that tools can be made of them.
//
// A recipe is written by hand (share/recipes), by a user, or read from a program's help. The
// generator of tools (pkg/scaffold/wrap) treats all of them alike.
package recipe

// A Recipe describes the command line of a program, or of one of its subcommands.
type Recipe struct {
	// Schema is the address of the JSON Schema of recipes, for editors.
	Schema string `json:"$schema,omitempty"`
	// Program is the name on PATH, such as "rg".
	Program string `json:"program"`
	// Aliases are other names of the program, such as "fdfind" for fd on Debian.
	Aliases []string `json:"aliases,omitempty"`
	// Command has the words of a subcommand, such as ["log"] or ["issue", "list"]. They follow the
	// program, unless the words of an argument begin with them.
	Command []string `json:"command,omitempty"`
	// Variant names one of several recipes for the same command line, such as "create" for tar. It is
	// not passed to the program.
	Variant string `json:"variant,omitempty"`
	// Title has at most five words, such as "Search text in files".
	Title string `json:"title"`
	// Summary has one or two sentences about the tool's work and when to choose it.
	Summary string `json:"summary"`
	// Documentation is the address of the program's own documentation.
	Documentation string `json:"documentation,omitempty"`
	// Verified reports that the examples were run on the real program.
	Verified bool `json:"verified"`
	// Version restricts the recipe to a range of versions of the program.
	Version *Version `json:"version,omitempty"`
	// InRoot reports that the program runs in the only root, if there is one. Programs that read settings
	// of the current folder, or write into it, need this.
	InRoot bool `json:"inRoot,omitempty"`
	// Environment has variables that are set for the program, such as GIT_PAGER.
	Environment map[string]string `json:"environment,omitempty"`
	// Arguments are the words of the command line, in the order in which the program gets them.
	Arguments []Argument `json:"arguments"`
	// Stdin is the argument whose value the program reads from standard input.
	Stdin *Stdin `json:"stdin,omitempty"`
	// Requires lists groups of arguments. A call needs at least one of each group.
	Requires [][]string `json:"requires,omitempty"`
	// Excludes lists groups of arguments. A call has at most one of each group.
	Excludes [][]string `json:"excludes,omitempty"`
	// Output describes the output and the exit codes.
	Output Output `json:"output"`
	// Stderr reports that the program prints a part of its result to standard error, such as "verify OK" of
	// openssl. It becomes a part of the output.
	Stderr bool `json:"stderr,omitempty"`
	// Capabilities are those that the tool declares, such as "Search". The list can be empty.
	Capabilities []string `json:"capabilities"`
	// Starts names the programs that the program starts, such as "ssh".
	Starts []string `json:"starts,omitempty"`
	// Effects are what the tool does outside of its output.
	Effects Effects `json:"effects"`
	// TimeoutSecs is the time limit of a call in seconds. 0 is 30.
	TimeoutSecs int `json:"timeoutSecs,omitempty"`
	// Progress is the way in which the program reports progress: "ffmpeg", "rsync" or "curl".
	Progress string `json:"progress,omitempty"`
	// Dangers are options that are never offered unless somebody asks for them by name, with the
	// reason. They run programs, read configuration that does, or write to files that they name.
	Dangers map[string]string `json:"dangers,omitempty"`
	// Examples are calls that work. A recipe in share/recipes has at least two.
	Examples []Example `json:"examples,omitempty"`
}

// A Version is a range of versions.
type Version struct {
	// Words print the version. Empty is ["--version"].
	Words []string `json:"words,omitempty"`
	// From is the first version for which the recipe is right, Below the first for which it is not.
	From  string `json:"from,omitempty"`
	Below string `json:"below,omitempty"`
}

// An Argument is one piece of the command line: words that are always there (Words), an option
// (Option), or an operand (neither).
type Argument struct {
	// Words are always passed, such as ["--no-config"] or ["--"].
	Words []string `json:"words,omitempty"`
	// Name is the property of the tool, such as "ignore_case".
	Name string `json:"name,omitempty"`
	// Option is the option as the program spells it, such as "--ignore-case".
	Option string `json:"option,omitempty"`
	// Aliases are other names of the option, such as "-i". People can ask for it by them.
	Aliases []string `json:"aliases,omitempty"`
	// Negation is passed for a switch that is false, such as "--no-color". Most switches do not have one.
	Negation string `json:"negation,omitempty"`
	// Description explains the argument in plain words.
	Description string `json:"description,omitempty"`
	// Type is "switch", "string", "integer", "number", "choice", "path", "url".
	Type Type `json:"type,omitempty"`
	// Form is the way in which the value follows the option: "words" (two words), "equals"
	// (--opt=VALUE) or "attached" (-oVALUE). Empty is "words".
	Form Form `json:"form,omitempty"`
	// Choices are the values of a choice.
	Choices []string `json:"choices,omitempty"`
	// Pattern is a regular expression for the whole value.
	Pattern string `json:"pattern,omitempty"`
	// Unless is a POSIX extended regular expression. A value of a path that matches it as a whole is not
	// a path, such as the remote "photos:2024" of rclone. The program gets it as it is.
	Unless string `json:"unless,omitempty"`
	// Minimum and Maximum bound a number.
	Minimum *float64 `json:"minimum,omitempty"`
	Maximum *float64 `json:"maximum,omitempty"`
	// Default is the value that the tool passes if the call does not set it. For a list it is the only
	// element. For a path "." is the only root.
	Default any `json:"default,omitempty"`
	// Access is what the program does with a path: "read", "write" (a new or existing file) or
	// "both". Empty is "read".
	Access Access `json:"access,omitempty"`
	// Required reports that each call needs the argument, Repeat that its value is a list.
	Required bool `json:"required,omitempty"`
	Repeat   bool `json:"repeat,omitempty"`
	// Dashes reports that a value may begin with a dash, because the program takes it as a value
	// anyway (after "--", or joined to the option).
	Dashes bool `json:"dashes,omitempty"`
	// Only reports that the argument is offered only if the user asks for it by name.
	Only bool `json:"only,omitempty"`
	// Destructive reports that a tool with this argument may destroy data.
	Destructive bool `json:"destructive,omitempty"`
	// Unconfirmed lists what was guessed from the program's help: "type", "repeat", "value", …
	Unconfirmed []string `json:"unconfirmed,omitempty"`
}

// A Type is the type of an argument's values.
type Type string

// The types. A switch is an option without a value.
const (
	Switch  Type = "switch"
	String  Type = "string"
	Integer Type = "integer"
	Number  Type = "number"
	Choice  Type = "choice"
	Path    Type = "path"
	URL     Type = "url"
)

// A Form is the way in which a value follows its option.
type Form string

// The forms: "--opt VALUE", "--opt=VALUE" and "-oVALUE".
const (
	TwoWords Form = "words"
	Equals   Form = "equals"
	Attached Form = "attached"
)

// An Access is what the program does with a path.
type Access string

// Stdin is an argument whose value is standard input.
type Stdin struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Word is passed at the end if there is input, such as "-". Most programs need none.
	Word string `json:"word,omitempty"`
}

// Output describes what a program prints, and which exit codes count as success.
type Output struct {
	// Type is "text", "json" or "binary".
	Type string `json:"type"`
	// MIMEType is the type of binary output.
	MIMEType string `json:"mimeType,omitempty"`
	// ExitCodes are exit codes other than 0 that count as success, with the text for a call without
	// output, such as {"1": "No lines matched."}.
	ExitCodes map[string]string `json:"exitCodes,omitempty"`
}

// Effects become the annotations of the tool. Nil is not known.
type Effects struct {
	ReadOnly    *bool `json:"readOnly,omitempty"`
	Destructive *bool `json:"destructive,omitempty"`
	Idempotent  *bool `json:"idempotent,omitempty"`
	OpenWorld   *bool `json:"openWorld,omitempty"`
}

// An Example is a call that works.
type Example struct {
	Description string         `json:"description"`
	Arguments   map[string]any `json:"arguments"`
}
