package jq_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"mcp-bash/pkg/json/jq"
	"mcp-bash/pkg/json/jqtext"
)

func ExampleRun() {
	input := strings.NewReader(`{"name": "World", "id": 12345678901234567890}`)
	code := jq.Run([]string{"-c", "."}, input, os.Stdout, os.Stderr)
	fmt.Println("exit", code)
	// Output:
	// {"name":"World","id":12345678901234567890}
	// exit 0
}

func ExampleParseSimple() {
	simple, ok := jq.ParseSimple(`.tags[1] // "none"`)
	fmt.Println(ok)
	for _, doc := range []string{`{"tags":["a","b"]}`, `{}`, `{"tags":"a"}`} {
		value, err := simple.Eval(json.RawMessage(doc))
		fmt.Printf("%s %v\n", jqtext.AppendText(nil, value), err)
	}
	// Output:
	// true
	// b <nil>
	// none <nil>
	//  Cannot index string with number
}

func ExampleFlat() {
	payload := jqtext.Normal(json.RawMessage(`{ "name": "World", "n": [1.0] }`))
	table, ok := jqtext.Flat(payload)
	fmt.Println(ok)
	fmt.Print(table)
	// Output:
	// true
	// .	o{"name":"World","n":[1.0]}
	// .name	sWorld
	// .n	a[1.0]
	// .n[0]	i1
}
