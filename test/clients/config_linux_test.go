package clients

import (
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// On a full disk, an edit of a client's file fails with a clear error. The file stays as it is,
// and no partial file remains (CLI-712).
func TestConfigFullDisk(t *testing.T) {
	t.Parallel()
	unshare := unsharing(t)
	script := `set -e
mount -t tmpfs -o size=256k,mode=755 small "$1"; cd "$1"
mcp-bash new demo >/dev/null; cd demo
printf '{"note": "%s"}\n' "$(head -c 20000 /dev/zero | tr '\0' x)" >../mcp.json
cksum ../mcp.json >../before
dd if=/dev/zero of=../fill bs=1k count=1000 2>/dev/null || :
set +e
mcp-bash config --client cursor --apply --file ../mcp.json >"$2" 2>"$2.err"
echo "$? $(wc -c <"$2") $(grep -c 'no space left on device' "$2.err")"
cksum ../mcp.json | diff ../before - && echo unchanged
ls -A ..
rm ../fill
mcp-bash config --client cursor --apply --file ../mcp.json`
	dir := checkout.Directory(t)
	quoted := "'" + strings.ReplaceAll(script, "'", `'\''`) + "'"
	output := must(t, "/",
		unshare+" -r -m bash -c "+quoted+" bash "+dir+" "+filepath.Join(checkout.Directory(t), "output"))
	want := "1 0 1\nunchanged\nbefore\ndemo\nfill\nmcp.json\nAdded demo to " + dir + "/mcp.json\n"
	if !strings.HasPrefix(output, want) {
		t.Errorf("%s\nwant\n%s", output, want)
	}
}
