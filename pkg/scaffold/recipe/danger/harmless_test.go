package danger

import (
	"strings"
	"testing"
)

// WRAP-26: options that only shape the printed result. The last ones act on parts of a text.
func TestShaping(t *testing.T) {
	for line := range strings.SplitSeq(`any -n, --line-number  print line numbers
any -i, --ignore-case  ignore case distinctions
any --max-depth=N  descend at most N levels
any -k=KEYDEF  sort via a key
any -w=NUM  maximum width of the output
any -f=FILE  take patterns from FILE, one a line
any -in=infile  X.509 request input file (default stdin)
any --exclude-from=FILE
any --name-only  show only names of changed files
any -l  list files with matches
any -t=TYPE  limit listing to file systems of type TYPE
any -S  print server response
any -n  do not overwrite existing files
any --dry-run  Do not actually change any files; just print what would happen
any -s, --size=NUMBER  specify module size in dots
any -e  set program exit code, with 0 for no difference
any --version-sort  natural order of numbers within text
any --remove-comments  remove comments
any -k=CHOICE  change case of keywords
any -p=NUM  Strip NUM leading components from file names.`, "\n") {
		if _, o := option(line); !Harmless(o) {
			t.Error(line)
		}
	}
}

// WRAP-26: options that are not shown to be harmless. The documentation shows no effect, or another one.
func TestUnproven(t *testing.T) {
	for line := range strings.SplitSeq(`any -x
any --frobnicate  frobnicate the pots
any --mirror  make both sides equal to the pot
any -A  ARGS... run ".archive ARGS" and exit
any -e  Interpret the patch as an ed script.
any -g=NUM  Get files from RCS, Perforce, etc. if positive; ask if negative.
any -c=FILE  File that keeps track of serial number
any --diagnostics=string  enable diagnostics (http OR comma-separated list: cpu,mem,trace)
any -f=URL  If a URL or path to an html file, then parse for links to archives
any --format=NAME  the formatting program
any -o=FILE  the output
any --data=DIR  the pots
any -s  sort the pots, and delete the others
any -l  list the pots, then write them back
any -l  list the pots, which are deleted afterwards
any --add-padding=length  Add a padding block of the given length
any --show-signature  Check the signature by passing it to gpg
any --report=NAME  report to the server NAME
any --filter=filter  Read all input files through an input filter filter.
any --match=X  match with the command X
any --ext-diff  Allow an external diff driver to be executed.
any --skip-remove  removes the skipped
any -d  delete keys
any --print=FILE  print the pots to the file`, "\n") {
		if _, o := option(line); Harmless(o) {
			t.Error(line)
		}
	}
}
