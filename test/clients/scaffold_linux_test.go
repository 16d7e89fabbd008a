package clients

import (
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// A full disk fails a scaffold with a clear error: nothing half made is left, and what
// was to be replaced is as it was (CLI-110, CLI-602).
func TestScaffoldFullDisk(t *testing.T) {
	t.Parallel()
	unshare := unsharing(t)
	script := `set -e
mount -t tmpfs -o size=256k,mode=755 small "$1"; cd "$1"
mcp-bash new demo >/dev/null; cd demo
mcp-bash scaffold tool old >/dev/null; echo mine >tools/old/README.md
find . | sort >../before; cksum tools/old/* >>../before
dd if=/dev/zero of=../fill bs=1k count=1000 2>/dev/null || :
set +e
for what in 'tool new' 'prompt new' 'completion new' 'ui new' 'tool old --force'; do
  mcp-bash scaffold $what >"$2" 2>"$2.err"
  echo "$what: $? $(wc -c <"$2") $(grep -c 'no space left on device' "$2.err")"
done
cd ..; mcp-bash new other 2>&1 | grep -c 'no space left on device'; ls -A; cd demo
rm ../fill; { find . | sort; cksum tools/old/*; } | diff ../before - && echo unchanged
mcp-bash scaffold tool new`
	dir := checkout.Directory(t)
	quoted := "'" + strings.ReplaceAll(script, "'", `'\''`) + "'"
	output := must(t, "/",
		unshare+" -r -m bash -c "+quoted+" bash "+dir+" "+filepath.Join(checkout.Directory(t), "output"))
	want := `tool new: 1 0 1
prompt new: 1 0 1
completion new: 1 0 1
ui new: 1 0 1
tool old --force: 1 0 1
1
before
demo
fill
unchanged
Scaffolded tool at ` + dir + `/demo/tools/new
`
	if output != want {
		t.Errorf("%s\nwant\n%s", output, want)
	}
}
