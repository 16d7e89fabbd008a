package danger

import (
	"slices"
	"strings"
	"testing"
)

// WRAP-26: programs that execute their arguments, with any version in their names.
func TestPrograms(t *testing.T) {
	l := Load()
	for program, wants := range map[string][2]bool{
		"python3": {true, true}, "python3.13": {true, true}, "/usr/bin/perl": {true, true}, "node": {true, true},
		"xargs": {false, true}, "sqlite3": {false, true}, "docker": {false, true}, "find": {false, true},
		"sort": {false, false}, "rg": {false, false}, "m4": {false, true}, "7z": {false, false},
	} {
		if got := [2]bool{l.Interpreter(program), l.Program(program) != ""}; got != wants {
			t.Errorf("%s: %v", program, got)
		}
	}
}

// option parses "PROGRAM -n, --name=VALUE  description". The value is FILE, or NUM and FORMAT, which are
// neither programs nor paths.
func option(line string) (program string, o Option) {
	spec, help, _ := strings.Cut(line, "  ")
	program, names, _ := strings.Cut(spec, " ")
	names, o.Value, o.Takes = strings.Cut(names, "=")
	o.Names, o.Help = strings.Split(names, ", "), help
	return program, o
}

// WRAP-26: dangerous options, by their name, the name of their value or their description.
func TestDangers(t *testing.T) {
	l := Load()
	for reason, lines := range map[string]string{
		"runs": `any -x=CMD  for each result
any -x  Execute a command for each result
any -p=X  pipe the output through PROG
any --on-exit-script=X
any --hook
any --with=NAME  load the plugin NAME
any --rules=FILE  include custom rules
any --formatter=PATH  a JS file that exports a function
any --file=FILE  file to be loaded first
any --filter=X  filter files through the specified COMMANDS
any --load=SCRIPT_FILES
any --python=PYTHON  run it with the specified interpreter
any --picker=PICKER  Override binary invoked by --pick
any --remote-path=PATH  use PATH as the executable on the remote
tar --to-command=X`,
		"reads": `any --config=FILE
curl -K=FILE  read config from a file
any -c=X  path of the configuration file
any --ackrc=FILE
any --options-file=FILE
any --options=PATH  specify the file from which options should be read`,
		"sets":  `restic -o=X  set extended option`,
		"opens": `docker --volume=X  bind mount`,
		"writes": `any --outDir=X
any --log-file=X
any --html-report=DIR
any --tmpdir=DIR
any --stat=FILE  file name to which the profile is saved
any --cpuprofile=X
any --bitcode=FILE  - A file in which to write it
any --data=DIR  receive the backup into a directory
any --dir=DIRNAME  directory for chunks (if absent, prints to stdout)
any --name-cache=FILE  file to hold names
any --history=FILE  History file
any --write-definitions=FILE  definitions
any --error-file=X
any --to=FILE  the file, instead of standard output`,
		"changes": `any --delete
any -l  list the pots, then write them back
any -d  delete all duplicates as they are found
any -f  overwrite existing files
any --init  creates a configuration file
any -O  write output to a file named as the remote file
any --delete-delay  find deletions during, delete after`,
		"takes": `any --password=X
any -i=FILE  private key for authentication
any --api-key=KEY`,
		"sends": `any --upload-file=FILE
any -a  brew for all users and mail the results to them
npm --registry=X
pip3 --index-url=X`,
		"starts": "any --daemon\nany -s  run as a server",
	} {
		for line := range strings.SplitSeq(lines, "\n") {
			program, o := option(line)
			if why := l.Option(program, o).Why; !strings.HasPrefix(why, reason) {
				t.Errorf("%s: %q, not %s", line, why, reason)
			}
		}
	}
}

// WRAP-26: harmless options with words of dangerous ones.
func TestHarmless(t *testing.T) {
	l := Load()
	for line := range strings.SplitSeq(`any -c  print only a count
any --reverse  reverse the result
any --output=FORMAT  output format
any --output-format=X  format of the output
any --output  print all the output
any --log-level=LEVEL
any --no-config  do not read the configuration file
any --keep  keep (don't delete) input files
any -k  do not overwrite existing files
any --ignore-config=FILE
any --diff  show a diff instead of changing files in place
any --remove-comments  remove comments from the output
any --delete=CHARS  delete these characters
any --max-configs=N  maximum number of configurations
any --force-color
any --extension=EXT  file extensions to check
any --command-name=NAME  select processes by command name
any -n=NUM  the number of lines to write to a file
any -q  Quiet. With --output, write nothing to the file.
grep -f=FILE  take patterns from FILE
any -X=FILE  exclude files that match any pattern in FILE
any --exclude-from=FILE
any -s=SIZE  maximum size of a file to read
any --tokens  print the number of tokens of each file
any --server=HOST  name of the server to ask
any --json  generate JSON output
any --sort-output  generate sorted output
any --write=FORMAT  the parser to use when writing
any --xpath=EXPR  evaluate the XPath expression
any --type=TYPE  filter by type: file, directory, executable
any --engine=NAME  the regular expression engine to use
any --no-password  never prompt for password
any --cert=PATH  path to a CA certificate bundle
any -o=COLUMNS  the columns to print
any --break  print newlines between matches in different files
any --to, --write=FORMAT  the format
any --output=HTML
any --server-side  apply runs in the server`, "\n") {
		program, o := option(line)
		if got := l.Option(program, o); got != (Effect{}) {
			t.Errorf("%s: %+v", line, got)
		}
	}
}

// WRAP-26: switches that edit the input in place, which people use some programs for.
func TestEdits(t *testing.T) {
	l := Load()
	for line, edits := range map[string]bool{
		"any -i  edit files in place": true, "any --fix": true,
		"any -w, --write  write result to file instead of stdout": true,
		"any -m  modify the original input files":                 true,
		"any -w  Overwrite file with corrections":                 true,
		"any -f  overwrite existing files":                        false,
		"any --fix=POTS  fix these":                               false, "any --delete  delete the input": false,
	} {
		program, o := option(line)
		if got := l.Option(program, o); got.Edits != edits {
			t.Errorf("%s: %+v", line, got)
		}
	}
}

// The list is data: each entry has a reason.
func TestList(t *testing.T) {
	l := Load()
	for name, why := range l.Options {
		if !strings.HasPrefix(name, "-") || why == "" {
			t.Errorf("%s: %q", name, why)
		}
	}
	if len(l.Programs) < 200 {
		t.Errorf("options of %d programs, not of more than 200", len(l.Programs))
	}
	for program, options := range l.Programs {
		for name, why := range options {
			if !strings.HasPrefix(name, "-") || why == "" {
				t.Errorf("%s %s: %q", program, name, why)
			}
		}
	}
	for _, k := range l.Kinds {
		if k.Why == "" || k.Name+k.Value+k.Text == "" || !slices.Contains([]string{"", "value", "path", "none"}, k.Takes) {
			t.Error(k)
		}
	}
}
