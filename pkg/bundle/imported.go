package bundle

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// maxRecord is the maximum size of a record of how a tool was made, in bytes.
const maxRecord = 1 << 20

// importedScripts returns the entries at the top of the project that contain the scripts of imported tools. A script
// elsewhere is a fault: the tool would not work for others (CLI-1415).
func (b *builder) importedScripts() (names []string) {
	records, _ := fs.Glob(os.DirFS(b.p.Tools), "*/.wrap.json")
	for _, record := range records {
		doc, err := b.p.ReadFile(filepath.Join(b.p.Tools, filepath.FromSlash(record)), maxRecord)
		if err != nil {
			b.say.fault("tools/%s: %v", record, err)
			continue
		}
		script := rawjson.TextOf(doc, "script")
		switch local := filepath.FromSlash(strings.TrimPrefix(script, "./")); {
		case script == "":
		case filepath.IsLocal(local):
			names = append(names, strings.Split(filepath.ToSlash(local), "/")[0])
		default:
			b.say.fault("tools/%s starts %s, which is not in the project; run: mcp-bash add %s --copy --force",
				path.Dir(record), script, script)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
