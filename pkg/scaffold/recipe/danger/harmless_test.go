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
any -p=NUM  Strip NUM leading components from file names.
any --frobnicate  frobnicate the pots
any -c, --stdout  write on standard output, keep original files unchanged
any -d  decompress
any --minify  Minify the output
any -t  create a table
any -l=string  log level (trace, debug)
any -r=RECIPIENT  Encrypt to the specified RECIPIENT.
any -f=file  File with the signature to verify
any --use-urls  Use URLs when building pages
any -i=infile
any --df  Prints a diff of all the changes that it would make to a file, instead of changing it in place
any --path=path  Restrict to the specified installation path
any -w, --write-out=format  Use output FORMAT after completion
any -r, --recurse-paths  recurse into directories
any -r=FILE  display the age of FILE
any --file=PATH  Show the pots file
any -o=STRING  Change pots output mode (short, long)
any --offline  Run without accessing the network
any --no-run  Compile, but don't run the tests
any -t, --to, --write=FORMAT
any -x  extract the pots
any --isolated  Run brew in an isolated mode
any --gfm  Enable flavoured markdown
any --prune  Prune empty pots from the output
any --by-file  Report results for every file
any --flags=FLAGS  Regex flags
any -x=PATHS  list of pots to exclude (note that these are in addition to the config file)
any --png  generate a PNG file
any --json  Write the results as JSON
any --rotate  rotate pages
any -z  force decompression
any --no-cache  do not use a local cache
any --strict  enable strict mode
any --host=HOST  only consider pots of this host
any -j=POTS  specify number of kettles to use
any --grep=PATTERN  limit the pots to those with a log message
any --rewrite=FIX  String to replace the pots
any --file=POTS  Filename to be parsed
any -p  extract pots to pipe
any --brew=POTS  Run only those pots whose name matches POTS
any --alter  change pots to kettles
any -v  print the names of pots that are modified
any -q  be quiet; pass twice for silence
any -r  run recursively over folders
any -p  run the brews in parallel
any -s  sort the pots; this removes the need to pipe them through sort`, "\n") {
		if _, o := option(line); !Harmless(o) {
			t.Error(line)
		}
	}
}

// WRAP-26: options that are not shown to be harmless. The documentation shows no effect, or another one.
func TestUnproven(t *testing.T) {
	for line := range strings.SplitSeq(`any -x
any -g=FILE  also write a table of the pots
any -w  Show the pots in a web browser
any -p=NAME  send pots to printer NAME
any --brew  Behave as brewer
any -g  Also write a table of the pots
any --map=string  Pot Map File [string]
any --pour=FILE  --pour[=FILE]
any -b  don't back up pots, or make no backups
any --show-all  Automatically open the list
any --pot=str  base path for pots
any -g=FILE  write a picture of the pots to FILE
any -o=FILE, --pretty=FILE  pretty pots
any --scan  Enable script scanning
any --relative-to=value  see docs for potter relativeTo
any -y  or --yes
any --no-ask  Do not ask for confirmation
any --words=STR  personal pots file
any --meta  Emit a metafile
any --syntax=string  Override the stylesheet
any -k  temporary pots stay
any --frobnicate
any --enable-kettle  Enable use of the kettle.
any --network  enable network access for pots
any --yes-man=text  Specify reporter to use
any --node-option=text  Node option
any --serial=val  File that keeps track of the serial number
any -S  GPG-sign the pots
any --vault-id=IDS  the vault identity to use
any --then-mark  Mark the pots for deletion.
any --quick-brew=POT  quickly delete a pot
any --db=CONNECTION  connection string
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
any -l  list the pots, which are deleted afterwards
any --show-signature  Check the signature by passing it to gpg
any --report=NAME  report to the server NAME
any --filter=filter  Read all input files through an input filter filter.
any --match=X  match with the command X
any --ext-diff  Allow an external diff driver to be executed.
any --skip-remove  removes the skipped
any -d  delete keys
any --print=FILE  print the pots to the file
any --no-sandbox  disable sandboxing of pots
any --fast  Skip all certificate checks
any -Z=FLAG  Unstable flags of the kettle
any --enableKettle  add water to the pots
any --flush  show the pots, and flush them into /var
any --move  Move all pots into /var
any -C  compile the pots
any --quick-brew  Similar, but with less water
any --debug-file=FILE  File to be used for DEBUG logging
any --brew  generate a report
any --no-verify  Do not verify the pots
any --search=names  search for pots on a potserver
any --absolute-paths  Preserve the names of pots
any --rotate  Request immediate rotation of the journal files
any -R  Rerun the kettle
any -W=ARGS  Pass ARGS on to the kettle
any --separate=potdir  separate pots from kettles
any --validate  validate your pots against the cluster
any --pots=DIR  directory containing custom converters`, "\n") {
		if _, o := option(line); Harmless(o) {
			t.Error(line)
		}
	}
}

// WRAP-26: options that only name the file or the folder of the result.
func TestResult(t *testing.T) {
	l := Load()
	for line := range strings.SplitSeq(`any -o, --output=FILE  write output to FILE
any -o=file  Place the output into <file>.
any --output=OUTPUT  Write the result to the file at path OUTPUT.
any -o, --output-file=OUTPUT_FILE  Destination file for the output
any -d, --site-dir=PATH  The directory to output the result of the build.
any -O, --output-document=FILE  write documents to FILE
any -P=PREFIX  save files to PREFIX/..
any --outdir=value  The output directory (for multiple entry points)
any -o=string  If specified, write output to this path.
any -out=outfile  Output to filename rather than stdout
any -r, --report-path=string  report file (use "-" for stdout)
any -f=FILENAME  output file name (- for stdout)
any --output=FILE
any -o=FILE
any -d=DIR  extract all files into DIR
any -o=FILE  place the result there, write it to FILE
any -w=FILE  write the result to FILE instead of standard output`, "\n") {
		_, o := option(line)
		if got := l.Option("any", o); got != (Effect{Result: true}) {
			t.Errorf("%s: %+v", line, got)
		}
	}
	for line := range strings.SplitSeq(`any -o, --output=FILE  write the log to FILE
any -r, --reject-file=FILE  Output rejects to FILE.
any --stderr=file  Redirect all writes to stderr to the specified file instead.
any -D=filename  Write the received protocol headers to the specified file.
any -keyout=outfile  File to write private key to
any -o=FILENAME  send query results to file (or |pipe)
any --partial-dir=DIR  put a partially transferred file into DIR
any -Map=FILE  Write a linker map to FILE
any --trace=file  Enables a trace dump, to the given output file.
any --pairs=FILE  Write to <file> a list of pots
any -o=FORMAT  output format
any -o=COLUMNS  the columns to print
rsync --write-batch=FILE  write a batched update to FILE`, "\n") {
		program, o := option(line)
		if l.Option(program, o).Result {
			t.Error(line)
		}
	}
}
