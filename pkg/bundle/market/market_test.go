package market

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
)

// FuzzParse: any description and any manifest give lists in JSON, or an error. Only folders below that of the file are
// read.
func FuzzParse(f *testing.F) {
	f.Add(`{"name":"acme","owner":{"name":"A"},"plugins":[{"path":"p","category":"C","registry":{"name":"a/b",`+
		`"bundle":"x.mcpb","url":"https://e/mcp"}},{"path":"./q/../r"}]}`,
		`{"name":"demo","author":{"name":"A"},"keywords":["k"]}`)
	f.Add(`{"name":"acme","owner":{"name":"A"},"plugins":[{"path":"../p"},{"path":"/p"},{"path":"."}]}`, `{"name":"a b"}`)
	f.Add(`{"name":"acme","owner":{"name":"A"},"plugins":[{"path":"p\u0000"}]}`, `{`)
	f.Fuzz(func(t *testing.T, description, manifest string) {
		d, err := parse([]byte(description), func(folder string) ([]byte, error) {
			if !fs.ValidPath(folder) || folder == "." {
				t.Errorf("the folder %q was read", folder)
			}
			if strings.HasPrefix(folder, "absent") {
				return nil, fs.ErrNotExist
			}
			return []byte(manifest), nil
		})
		if err != nil {
			return
		}
		for _, file := range d.Marketplace.Files() {
			text, err := content(file)
			if _, errJSON := rawjson.Check(text); errors.Join(err, errJSON) != nil {
				t.Errorf("%s: %v, %v\n%s", file.Name, err, errJSON, text)
			}
		}
	})
}
