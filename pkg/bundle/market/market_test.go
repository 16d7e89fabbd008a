package market

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/schemas"
)

// PL-40: the command rejects files that violate the schema for editors.
func TestCheck(t *testing.T) {
	const owner, list = `"owner":{"name":"A"}`, `"plugins":[{"path":"p"}]`
	long := strings.Repeat("x", 2001)
	for _, tc := range []struct {
		description string
		valid       bool
	}{
		{`{"name":"acme",` + owner + `,` + list + `}`, true},
		{`{"$schema":"x","name":"a-b","title":"T","description":"D",` + owner + `,` + list + `}`, true},
		{`[]`, false}, {`{}`, false}, {`{"name":"acme",` + list + `}`, false}, {`{"name":"acme",` + owner + `}`, false},
		{`{"name":"A",` + owner + `,` + list + `}`, false}, {`{"name":"a--b",` + owner + `,` + list + `}`, false},
		{`{"name":"",` + owner + `,` + list + `}`, false}, {`{"name":5,` + owner + `,` + list + `}`, false},
		{`{"name":"a","description":"` + long + `",` + owner + `,` + list + `}`, false},
		{`{"name":"a","colour":"red",` + owner + `,` + list + `}`, false},
		{`{"name":"a","owner":"A",` + list + `}`, false}, {`{"name":"a","owner":{},` + list + `}`, false},
		{`{"name":"a",` + owner + `,"plugins":{}}`, false}, {`{"name":"a",` + owner + `,"plugins":[]}`, false},
		{`{"name":"a",` + owner + `,"plugins":["p"]}`, false}, {`{"name":"a",` + owner + `,"plugins":[{}]}`, false},
		{`{"name":"a",` + owner + `,"plugins":[{"path":"p","registry":{"name":"a/b"}}]}`, false},
		{`{"name":"a",` + owner + `,"plugins":[` + strings.Repeat(`{"path":"p"},`, 1000) + `{"path":"p"}]}`, false},
	} {
		n := 0
		_, err := parse([]byte(tc.description), func(string) ([]byte, error) {
			n++
			return fmt.Appendf(nil, `{"name":"p%d"}`, n), nil
		})
		if (err == nil) != tc.valid {
			t.Errorf("%.80s: %v; valid: %v", tc.description, err, tc.valid)
		}
	}
}

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
		if faults := schemas.Compile(schemas.Marketplace).Check([]byte(description)); len(faults) > 0 {
			t.Errorf("the schema refuses %s: %v", description, faults)
		}
		for _, file := range d.Marketplace.Files() {
			in, err := file.Open()
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(in)
			if _, errJSON := rawjson.Check(text); errors.Join(err, errJSON) != nil {
				t.Errorf("%s: %v, %v\n%s", file.Name, err, errJSON, text)
			}
		}
	})
}
