//go:build programs

package programs

// A call is a request of a client and the expected result. In all texts, {project} is the folder of the
// project. {http} is the address of a server that the test runs, and {tcp} the port of a server that
// greets clients. {stomp} is the port of a server that takes messages. Nobody listens at port 9.
type call struct {
	with   string // the arguments, JSON
	prints string // the whole result
	says   string // a part of the result, or of standard error
	fails  bool   // whether the result is an error
	file   string // is there afterwards
	holds  string // is in the file
}

// callsOf are for each tool what it finds below NAME/ of the project, which is where tools run, and
// calls in their order. A program is wrapped with its default options where only names none.
var callsOf = map[string]struct {
	only  string
	needs string // the capabilities that a person declares instead of those that wrap chose
	files map[string]string
	calls []call
}{
	"autopep8": {
		files: map[string]string{"a.py": "import os,sys\nx=1\n", "b.py": "y=2\n"},
		calls: []call{
			{with: `{"files":["autopep8/a.py"]}`, prints: "import os\nimport sys\nx = 1\n"},
			{with: `{"diff":true,"files":["autopep8/a.py"]}`, says: "-x=1\n+import os\n+import sys\n+x = 1\n"},
			{with: `{"select":"E225","files":["autopep8/a.py"]}`, prints: "import os,sys\nx = 1\n"},
			{with: `{"in_place":true,"files":["autopep8/b.py"]}`, file: "autopep8/b.py", holds: "y = 2\n"},
		},
	},
	"black": {
		files: map[string]string{"a.py": "x = {'a':1}\n", "b.py": "x = {'a':1}\n", "c.py": "f(a, b)\n"},
		calls: []call{
			{with: `{"check":true,"src":["black/a.py"]}`, fails: true, says: "would reformat black/a.py"},
			{with: `{"diff":true,"src":["black/a.py"]}`, says: "-x = {'a':1}\n+x = {\"a\": 1}\n"},
			{with: `{"diff":true,"skip_string_normalization":true,"src":["black/a.py"]}`, says: "+x = {'a': 1}\n"},
			{with: `{"src":["black/b.py"]}`, file: "black/b.py", holds: "x = {\"a\": 1}\n"},
			{with: `{"line_length":4,"src":["black/c.py"]}`, file: "black/c.py", holds: "f(\n    a,\n    b,\n)\n"},
		},
	},
	"busybox-grep": { // busybox runs scripts, so even words are only offered by name
		files: map[string]string{"data": "a\nb\n"},
		calls: []call{
			{with: `{"arguments":["b","busybox-grep/data"]}`, prints: "b\n"},
			{with: `{"n":true,"arguments":["b"],"stdin":"a\nb\n"}`, prints: "2:b\n"},
			{with: `{"i":true,"c":true,"arguments":["B"],"stdin":"a\nb\n"}`, prints: "1\n"},
			{with: `{"r":true,"l":true,"arguments":["a","busybox-grep"]}`, prints: "busybox-grep/data\n"},
			{with: `{"arguments":["z"],"stdin":"a\n"}`, fails: true, says: "exit status 1"},
		},
	},
	"busybox-gzip": {
		files: map[string]string{"data": "hello\n", "bad.gz": "no"},
		calls: []call{
			{with: `{"k":true,"file":["busybox-gzip/data"]}`, file: "busybox-gzip/data.gz", holds: "\x1f\x8b"},
			{with: `{"d":true,"c":true,"file":["busybox-gzip/data.gz"]}`, prints: "hello\n"},
			{with: `{"d":true,"f":true,"file":["busybox-gzip/data.gz"]}`, file: "busybox-gzip/data", holds: "hello\n"},
			{with: `{"t":true,"file":["busybox-gzip/bad.gz"]}`, fails: true, says: "invalid magic"},
		},
	},
	"busybox-sort": {
		files: map[string]string{"data": "10\n9\n9\n", "pairs": "a:2\nb:1\n"},
		calls: []call{
			{with: `{"r":true,"arguments":["busybox-sort/pairs"]}`, prints: "b:1\na:2\n"},
			{with: `{"n":true,"u":true,"arguments":["busybox-sort/data"]}`, prints: "9\n10\n"},
			{with: `{"t":":","k":"2","arguments":["busybox-sort/pairs"]}`, prints: "b:1\na:2\n"},
			{with: `{"o":"busybox-sort/out","arguments":["busybox-sort/data"]}`, file: "busybox-sort/out", holds: "10\n9\n9\n"},
		},
	},
	"busybox-wget": {
		calls: []call{
			{with: `{"Y":"off","P":"busybox-wget","url":["{http}/hello"]}`, file: "busybox-wget/hello", holds: "GET /hello\n"},
			{with: `{"Y":"off","O":"busybox-wget/a","header":"X-Word: word","url":["{http}/"]}`,
				file: "busybox-wget/a", holds: "GET / word\n"},
			{with: `{"Y":"off","q":true,"O":"busybox-wget/b","post_data":"a=1","url":["{http}/form"]}`,
				file: "busybox-wget/b", holds: "POST /form a=1\n"},
			{with: `{"Y":"off","O":"-","url":["{http}/hello"]}`, prints: "GET /hello\n"},
			{with: `{"Y":"off","spider":true,"url":["{http}/missing"]}`, fails: true, says: "404 Not Found"},
			{with: `{"Y":"off","url":["http://127.0.0.1:9/"]}`, fails: true, says: "Connection refused"},
		},
	},
	"cut": {
		files: map[string]string{"data": "a\tb\tc\n"},
		calls: []call{
			{with: `{"delimiter":":","fields":"2","stdin":"a:b:c\n"}`, prints: "b\n"},
			{with: `{"characters":"1-2","complement":true,"stdin":"abcd\n"}`, prints: "cd\n"},
			{with: `{"delimiter":":","fields":"1,3","only_delimited":true,"stdin":"a:b:c\nx\n"}`, prints: "a:c\n"},
			{with: `{"fields":"3","file":["cut/data"]}`, prints: "c\n"},
		},
	},
	"diff": {
		files: map[string]string{"one": "a\nb\n", "two": "a\nc\n", "dir/one": "a\nb\n"},
		calls: []call{
			{with: `{"files":["diff/one","diff/two"]}`, fails: true, says: "2c2\n< b\n---\n> c\n"},
			{with: `{"unified":true,"files":["diff/one","diff/two"]}`, fails: true, says: " a\n-b\n+c\n"},
			{with: `{"brief":true,"files":["diff/one","diff/two"]}`, fails: true, says: "two differ"},
			{with: `{"report_identical_files":true,"files":["diff/one","diff/dir"]}`, says: "are identical"},
			{with: `{"brief":true,"files":["diff/one"]}`, fails: true, says: "missing operand"},
		},
	},
	"fdfind": {
		files: map[string]string{"one.txt": "", "Two.md": "", ".hidden.txt": "", "sub/three.txt": ""},
		calls: []call{
			{with: `{"ignore_case":true,"pattern":"TWO","path":["fdfind"]}`, prints: "fdfind/Two.md\n"},
			{with: `{"glob":true,"pattern":"*.md","path":["fdfind"]}`, prints: "fdfind/Two.md\n"},
			{with: `{"hidden":true,"max_depth":1,"extension":["txt"],"pattern":"d","path":["fdfind"]}`,
				prints: "fdfind/.hidden.txt\n"},
			{with: `{"pattern":"three"}`, prints: "fdfind/sub/three.txt\n"},
			{with: `{"extension":["md"],"path":["fdfind"]}`, fails: true, says: "/pattern: is required with path"},
			{with: `{"pattern":".","extension":["md"],"path":["fdfind"]}`, prints: "fdfind/Two.md\n"},
		},
	},
	"gh-issue-list": {
		needs: `["Network"]`,
		calls: []call{
			{with: `{"repo":"o/r","json":"nosuch"}`, fails: true, says: `Unknown JSON field: "nosuch"`},
			{with: `{"repo":"o/r","limit":-1}`, fails: true, says: "invalid limit: -1"},
			{with: `{"repo":"o/r","jq":"."}`, fails: true, says: "cannot use `--jq` without specifying `--json`"},
			{with: `{"repo":"o/r","state":"closed","limit":3}`, fails: true, says: "127.0.0.1:9: connect: connection refused"},
		},
	},
	"gh-pr-merge": {
		needs: `["Network"]`,
		calls: []call{
			{with: `{"repo":"o/r","squash":true}`, fails: true, says: "argument required when using the --repo flag"},
			{with: `{"repo":"o/r","merge":true,"rebase":true,"number_url_branch":"1"}`, fails: true,
				says: "only one of --merge, --rebase, or --squash can be enabled"},
			{with: `{"repo":"o/r","squash":true,"number_url_branch":"1"}`, fails: true,
				says: "127.0.0.1:9: connect: connection refused"},
		},
	},
	"gh-release-create": {
		needs: `["Network","Search"]`,
		files: map[string]string{"notes": "n\n"},
		calls: []call{
			{with: `{"repo":"o/r","title":"t","notes":"n"}`, fails: true, says: "tag required when not running interactively"},
			{with: `{"repo":"o/r","tag":"v1","notes_file":"gh-release-create/nosuch"}`, fails: true,
				says: "nosuch: no such file or directory"},
			{with: `{"repo":"o/r","tag":"v1","draft":true,"notes_file":"gh-release-create/notes"}`, fails: true,
				says: "127.0.0.1:9: connect: connection refused"},
		},
	},
	"git-add": {
		needs: `["FileSystem"]`,
		files: map[string]string{"new": "n\n", "other": "o\n", "more/x": "x\n"},
		calls: []call{
			{with: `{"dry_run":true,"pathspec":["git-add/other"]}`, prints: "add 'git-add/other'\n"},
			{with: `{"verbose":true,"pathspec":["git-add/new"]}`, prints: "add 'git-add/new'\n"},
			{with: `{"all":true,"verbose":true,"pathspec":["git-add/more"]}`, prints: "add 'git-add/more/x'\n"},
			{with: `{"pathspec":["git-add/nosuch"]}`, fails: true, says: "'git-add/nosuch' did not match any files"},
		},
	},
	"git-clone": {
		needs: `["Edit","Network","Process"]`,
		calls: []call{
			{with: `{"repo":"{project}/origin","dir":"git-clone/a"}`, file: "git-clone/a/file", holds: "committed\n"},
			{with: `{"repo":"{project}/origin","dir":"git-clone/b","branch":"side","origin":"up"}`,
				file: "git-clone/b/.git/refs/remotes/up/HEAD", holds: "ref: refs/remotes/up/"},
			{with: `{"repo":"{project}/origin","dir":"git-clone/c","bare":true}`, file: "git-clone/c/config",
				holds: "bare = true"},
			{with: `{"repo":"git://127.0.0.1:9/x","dir":"git-clone/d"}`, fails: true, says: "Connection refused"},
			{with: `{"repo":"{project}/git-clone/nosuch","dir":"git-clone/e"}`, fails: true, says: "does not exist"},
		},
	},
	"git-status": {
		files: map[string]string{"new": "n\n", "sub/x": "x\n", "sub/y": "y\n"},
		calls: []call{
			{with: `{"short":true,"pathspec":["git-status/new"]}`, prints: "?? git-status/new\n"},
			{with: `{"porcelain":true,"untracked_files":true,"pathspec":["git-status/sub"]}`,
				prints: "?? git-status/sub/x\n?? git-status/sub/y\n"},
			{with: `{"short":true,"branch":true,"pathspec":["nosuch"]}`, prints: "## No commits yet on trunk\n"},
		},
	},
	"gofmt": {
		files: map[string]string{"p.go": "package  p\n", "q.go": "package q\n\nvar all = [][]int{[]int{1}}\n"},
		calls: []call{
			{with: `{"path":["gofmt/p.go"]}`, prints: "package p\n"},
			{with: `{"l":true,"path":["gofmt"]}`, prints: "gofmt/p.go\n"},
			{with: `{"s":true,"path":["gofmt/q.go"]}`, prints: "package q\n\nvar all = [][]int{{1}}\n"},
			{with: `{"r":"all -> some","path":["gofmt/q.go"]}`, prints: "package q\n\nvar some = [][]int{[]int{1}}\n"},
			{with: `{"w":true,"path":["gofmt/p.go"]}`, file: "gofmt/p.go", holds: "package p\n"},
		},
	},
	"goimports": {
		needs: `["Edit","Process"]`,
		files: map[string]string{"p.go": "package p\n\nfunc f() { fmt.Println() }\n", "q.go": "package  q\n"},
		calls: []call{
			{with: `{"format_only":true,"path":["goimports/q.go"]}`, prints: "package q\n"},
			{with: `{"format_only":true,"l":true,"path":["goimports/q.go"]}`, prints: "goimports/q.go\n"},
			{with: `{"format_only":true,"w":true,"path":["goimports/q.go"]}`, file: "goimports/q.go", holds: "package q\n"},
			{with: `{"path":["goimports/p.go"]}`, says: "import \"fmt\"\n"},
		},
	},
	"grep": {
		files: map[string]string{"data": "a\nb\nab\n"},
		calls: []call{
			{with: `{"patterns":"-b","stdin":"a\n-b\n"}`, prints: "-b\n"},
			{with: `{"ignore_case":true,"line_number":true,"patterns":"B","stdin":"a\nb\n"}`, prints: "2:b\n"},
			{with: `{"invert_match":true,"count":true,"patterns":"b","file":["grep/data"]}`, prints: "1\n"},
			{with: `{"files_with_matches":true,"patterns":"ab","file":["grep/data"]}`, prints: "grep/data\n"},
			{with: `{"patterns":"z","stdin":"a\n"}`, fails: true, says: "exit status 1"},
		},
	},
	"head": {
		files: map[string]string{"one": "a\nb\n", "two": "c\n"},
		calls: []call{
			{with: `{"lines":"1","stdin":"a\nb\n"}`, prints: "a\n"},
			{with: `{"bytes":2,"stdin":"abc"}`, prints: "ab"},
			{with: `{"lines":"-1","file":["head/one"]}`, prints: "a\n"},
			{with: `{"lines":"1","quiet":true,"file":["head/one","head/two"]}`, prints: "a\nc\n"},
		},
	},
	"hexyl": { // its default is colours
		files: map[string]string{"data": "AABB"},
		calls: []call{
			{with: `{"color":"never","border":"none","length":"2","file":"hexyl/data"}`, says: " 00000000  41 41  "},
			{with: `{"color":"never","border":"none","skip":2,"file":"hexyl/data"}`, says: " 00000002  42 42  "},
			{with: `{"color":"never","border":"ascii","stdin":"C"}`, says: "\n|00000000| 43  "},
		},
	},
	"hyperfine": { // its commands are never offered
		calls: []call{
			{with: `{}`, fails: true, says: "required arguments were not provided"},
			{with: `{"warmup":"1"}`, fails: true, says: "required arguments were not provided"},
			{with: `{"show_output":true}`, fails: true, says: "required arguments were not provided"},
		},
	},
	"isbg": {
		needs: `["Network"]`,
		calls: []call{
			{with: `{}`, fails: true, says: "Option processing failed"},
			{with: `{"imaphost":"127.0.0.1","imapport":9,"imapuser":"u"}`,
				says: "You need to specify your imap password"},
			{with: `{"imaphost":"127.0.0.1","imapuser":"u","imappasswd":"p","deletehigherthan":0.5}`, fails: true,
				says: "Score 0.5 is too small"},
			{with: `{"imaphost":"127.0.0.1","imapport":9,"imapuser":"u","imappasswd":"p","imaplist":true}`,
				fails: true, says: "Connection refused ... retry 10 of 10"},
		},
	},
	"js-yaml": {
		files: map[string]string{"a.yaml": "a: [1]\n", "bad.yaml": "a: [\n"},
		calls: []call{
			{with: `{"file":"js-yaml/a.yaml"}`, prints: "{\n  \"a\": [\n    1\n  ]\n}\n"},
			{with: `{"compact":true,"file":"js-yaml/bad.yaml"}`, fails: true,
				prints: "YAMLException: unexpected end of the stream within a flow collection (2:1)"},
			{with: `{"trace":true,"file":"js-yaml/bad.yaml"}`, fails: true, says: "at generateError ("},
		},
	},
	"mandoc": {
		files: map[string]string{"t.1": ".Dd May 1, 2020\n.Dt T 1\n.Os\n.Sh NAME\n.Nm t\n.Nd test\n", "u.1": ".TH U 1\n"},
		calls: []call{
			{with: `{"T":"markdown","file":["mandoc/t.1"]}`, says: "# NAME\n\n**t** - test\n"},
			{with: `{"T":"html","O":"fragment","file":["mandoc/t.1"]}`, says: `<code class="Nm">t</code>`},
			{with: `{"T":"lint","file":["mandoc/u.1"]}`, fails: true, says: "mandoc/u.1:1:2: WARNING: missing date"},
			{with: `{"T":"ascii","I":"os=Demo","stdin":".Dd May 1, 2020\n.Dt T 1\n.Os\n.Sh NAME\n.Nm t\n.Nd d\n"}`,
				says: "Demo                              May 1, 2020"},
		},
	},
	"nc-openbsd": {
		needs: `["Network"]`,
		only:  "n,N,d,v,z,l", // -v reports a connection that the server rejects
		calls: []call{
			{with: `{"destination":"127.0.0.1","port":{tcp}}`, prints: "hello\n"},
			{with: `{"n":true,"N":true,"d":true,"destination":"127.0.0.1","port":"{tcp}"}`, prints: "hello\n"},
			{with: `{"v":1,"z":true,"destination":"127.0.0.1","port":9}`, fails: true,
				says: "127.0.0.1 port 9 (tcp) failed: Connection refused"},
			{with: `{"l":true}`, fails: true, says: "missing port number"},
		},
	},
	"num2words": {
		calls: []call{
			{with: `{"number":"42","lang":"en"}`, prints: "forty-two\n"},
			{with: `{"number":42,"to":"ordinal"}`, prints: "forty-second\n"},
			{with: `{"number":3,"lang":"de","to":"ordinal"}`, prints: "dritte\n"},
			{with: `{"list_converters":true}`, says: "ordinal_num\n"},
		},
	},
	"proselint": {
		files: map[string]string{"good.md": "Fine.\n", "bad.md": "This is very unique.\n"},
		calls: []call{
			{with: `{"json":true,"paths":["proselint/good.md"]}`, prints: `{"data": {"errors": []}, "status": "success"}`},
			{with: `{"paths":["proselint/bad.md"]}`, fails: true, says: "Comparison of an uncomparable"},
			{with: `{"compact":true,"paths":["proselint/good.md","proselint/bad.md"]}`, fails: true,
				says: "Comparison of an uncomparable"},
		},
	},
	"pygmentize": {
		files: map[string]string{"a.py": "print(1)\n"},
		calls: []call{
			{with: `{"l":"python","f":"html","inputfile":"pygmentize/a.py"}`, says: `<span class="nb">print</span>`},
			{with: `{"l":"python","f":"null","stdin":"print(1)\n"}`, prints: "print(1)"},
			{with: `{"N":"a.py"}`, says: "python"},
			{with: `{"L":true}`, says: "Pygments version"},
			{with: `{"f":"latex","o":"pygmentize/out","inputfile":"pygmentize/a.py"}`, file: "pygmentize/out",
				holds: `\begin{Verbatim}`},
		},
	},
	"semver": {
		calls: []call{
			{with: `{"version":["1.2.3"],"increment":"minor"}`, prints: "1.3.0\n"},
			{with: `{"version":["1.2.3","2.0.0"],"range":"^1"}`, prints: "1.2.3\n"},
			{with: `{"version":["v1"],"coerce":true}`, prints: "1.0.0\n"},
			{with: `{"version":["1.2.3"],"increment":"prerelease","preid":"beta"}`, prints: "1.2.4-beta.0\n"},
		},
	},
	"signify-openbsd": {
		files: map[string]string{"message": "hello\n", "other": "hallo\n"},
		calls: []call{
			{with: `{"G":true,"n":true,"c":"demo","p":"signify-openbsd/k.pub","s":"signify-openbsd/k.sec"}`,
				file: "signify-openbsd/k.pub", holds: "untrusted comment: demo public key\n"},
			{with: `{"S":true,"s":"signify-openbsd/k.sec","m":"signify-openbsd/message","x":"signify-openbsd/sig"}`,
				file: "signify-openbsd/sig", holds: "untrusted comment: verify with k.pub\n"},
			{with: `{"V":true,"p":"signify-openbsd/k.pub","m":"signify-openbsd/message","x":"signify-openbsd/sig"}`,
				prints: "Signature Verified\n"},
			{with: `{"V":true,"p":"signify-openbsd/k.pub","m":"signify-openbsd/other","x":"signify-openbsd/sig"}`,
				fails: true, prints: "signify-openbsd: signature verification failed"},
		},
	},
	"sort": {
		files: map[string]string{"data": "a 2\nb 1\n"},
		calls: []call{
			{with: `{"reverse":true,"stdin":"a\nc\nb\n"}`, prints: "c\nb\na\n"},
			{with: `{"numeric_sort":true,"stdin":"10\n9\n"}`, prints: "9\n10\n"},
			{with: `{"key":"2","file":["sort/data"]}`, prints: "b 1\na 2\n"},
			{with: `{"check":"diagnose-first","stdin":"b\na\n"}`, fails: true, says: "disorder: a"},
		},
	},
	"stomp": {
		needs: `["Network","Search"]`,
		files: map[string]string{"commands": "send /queue/demo hello\nquit\n"},
		calls: []call{
			{with: `{"host":"127.0.0.1","port":{stomp},"file":"stomp/commands"}`, file: "stomp/received",
				holds: "destination:/queue/demo"},
			{with: `{"host":"127.0.0.1","port":9,"user":"u","password":"p"}`, fails: true,
				says: "Could not connect to host 127.0.0.1, port 9"},
			{with: `{"host":"127.0.0.1","port":9,"protocol":"3.0"}`, fails: true, says: "Unknown version"},
		},
	},
	"stringer": {
		needs: `["FileSystem","Process"]`,
		files: map[string]string{
			"go.mod": "module demo\n",
			"p.go":   "package p\n\ntype Pill int\n\nconst (\n\tPillA Pill = iota // first\n\tPillB\n)\n",
		},
		calls: []call{
			{with: `{"type":"Pill","output":"stringer/a.go","arguments":["stringer/p.go"]}`, file: "stringer/a.go",
				holds: `"PillAPillB"`},
			{with: `{"type":"Pill","trimprefix":"Pill","output":"stringer/b.go","arguments":["stringer/p.go"]}`,
				file: "stringer/b.go", holds: `"AB"`},
			{with: `{"type":"Pill","linecomment":true,"output":"stringer/c.go","arguments":["stringer/p.go"]}`,
				file: "stringer/c.go", holds: `"firstPillB"`},
		},
	},
	"terser": {
		files: map[string]string{"a.js": "function add(first, second) { return first + second; }\nconsole.log(add(1, 2));\n"},
		calls: []call{
			{with: `{"files":["terser/a.js"]}`,
				prints: "function add(first,second){return first+second}console.log(add(1,2));\n"},
			{with: `{"mangle":true,"files":["terser/a.js"]}`, says: "console.log(add(1,2));\n"},
			{with: `{"compress":true,"mangle":true,"files":["terser/a.js"]}`, says: "console.log("},
			{with: `{"output":"terser/out.js","files":["terser/a.js"]}`, file: "terser/out.js", holds: "function add(first,"},
		},
	},
	"yamllint": {
		files: map[string]string{"good.yaml": "---\na: 1\n", "bad.yaml": "a:   1\n"},
		calls: []call{
			{with: `{"list_files":true,"file_or_dir":["yamllint/good.yaml"]}`, prints: "yamllint/good.yaml\n"},
			{with: `{"format":"parsable","file_or_dir":["yamllint/bad.yaml"]}`, fails: true,
				says: "bad.yaml:1:5: [error] too many spaces after colon (colons)\n"},
			{with: `{"format":"parsable","no_warnings":true,"file_or_dir":["yamllint/bad.yaml"]}`, fails: true,
				says: "bad.yaml:1:5: [error]"},
			{with: `{"config_data":"rules: {document-start: {present: false}}","file_or_dir":["yamllint/good.yaml"]}`,
				fails: true, says: `found forbidden document start "---"`},
			{with: `{"config_data":"rules: {document-start: enable}","file_or_dir":["yamllint/bad.yaml"]}`, fails: true,
				says: `missing document start "---"`},
		},
	},
}
