package sdk_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"mcp-bash/pkg/json/jq"
	"mcp-bash/pkg/json/jqtext"
	"mcp-bash/pkg/json/rawjson"
)

// A dice generates documents and filters.
type dice struct{ *rand.Rand }

func (d dice) pick(list ...string) string { return list[d.IntN(len(list))] }

var (
	keys = []string{"a", "b", "name", "", "a b", "a.b", "a[0]", "é", "ключ", "__proto__", "and", "end", "if", "null",
		"x/y", "x // y", "-n", "A", "Name", "a1", "_", "k\u2028", "*", "$x", "'", "[", "]", "0"}
	// Keys that prevent a table (SDK-206).
	wildKeys = []string{`q"q`, `b\b`, "t\tt", "n\nn"}
	texts    = append([]string{strings.Repeat("x", 20000)}, hostile...)
	numbers  = []string{"0", "-0", "1", "-1", "1.50", "1e3", "1E-7", "3.14", "100", "12345678901234567",
		"123456789012345678901234567890", "-9.99e300", "0.1"}
)

func (d dice) value(depth int) json.RawMessage {
	var b rawjson.Builder
	switch n := d.IntN(12); {
	case n < 4 && depth < 4:
		b.Object()
		used := map[string]bool{}
		for range d.IntN(5) {
			key := d.pick(keys...)
			if d.IntN(60) == 0 {
				key = d.pick(wildKeys...)
			}
			if !used[key] {
				used[key] = true
				b.Name(key).Raw(d.value(depth + 1))
			}
		}
		return b.End().Bytes()
	case n < 6 && depth < 4:
		b.Array()
		for range d.IntN(4) {
			b.Raw(d.value(depth + 1))
		}
		return b.End().Bytes()
	case n < 9:
		if d.IntN(40) > 0 {
			return b.String(d.pick(texts[1:]...)).Bytes()
		}
		return b.String(texts[0]).Bytes()
	case n < 11:
		return json.RawMessage(d.pick(append(numbers, "true", "false", "null")...))
	}
	return json.RawMessage(d.pick("true", "false", "null", "{}", "[]", `""`))
}

// filter generates a simple filter, usually for an existing value.
func (d dice) filter(doc json.RawMessage) string {
	var b strings.Builder
	b.WriteString(d.pick("", "", "", " ", "\t"))
	at := doc
	steps := 1 + d.IntN(3)
	if d.IntN(20) == 0 {
		steps = 0
		b.WriteString(".")
	}
	for step := range steps {
		members := rawjson.Members(at)
		var elements []json.RawMessage
		for e := range rawjson.Elements(at) {
			elements = append(elements, e)
		}
		switch {
		case step > 0 && (len(elements) > 0 && d.IntN(8) > 0 || d.IntN(12) == 0):
			i := d.IntN(len(elements) + 2)
			fmt.Fprintf(&b, "[%d]", i)
			at = nil
			if i < len(elements) {
				at = elements[i]
			}
		default:
			key := d.pick(keys...)
			if len(members) > 0 && d.IntN(8) > 0 {
				key = members[d.IntN(len(members))].Name
			}
			if strings.ContainsAny(key, "\"\\\n\t") {
				key = "a"
			}
			if isIdentifier(key) && d.IntN(6) > 0 {
				b.WriteString("." + key)
			} else {
				b.WriteString(`."` + key + `"`)
			}
			at = rawjson.Get(at, key)
		}
	}
	b.WriteString(d.pick("", "", "", " "))
	if d.IntN(3) == 0 {
		b.WriteString("//" + d.pick("", " ", "\t") + d.pick("true", "false", "null", "empty", "0", "7", "-12",
			"123456789012345", `""`, `"d"`, `"two words"`, `"é // x"`, `"-n"`, `"%s"`, `"null"`) + d.pick("", " "))
	}
	return b.String()
}

func isIdentifier(s string) bool {
	for i, c := range s {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// SDK-211: for simple filters, the table and our program return the output, exit code and errors of the contract.
func TestTableAgreesWithProgram(t *testing.T) {
	t.Parallel()
	const documents, filters = 30, 25
	seeds := uint64(4)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			d := dice{rand.New(rand.NewPCG(seed, 211))}
			var script strings.Builder
			// Prints the output of a call, its exit code and its error, with a NUL after each.
			script.WriteString("set +e\nask() { \"$@\" 2>err; printf '\\0%s\\0' \"$?\"; local err=; [[ ! -s err ]] || IFS= " +
				"read -r err <err; printf '%s\\0' \"$err\"; }\n")
			type question struct {
				doc    json.RawMessage
				filter string
				table  bool
			}
			var asked []question
			for range documents {
				doc := d.value(0)
				if d.IntN(3) > 0 {
					doc = with(doc, d)
				}
				doc = jqtext.Normal(doc)
				table, ok := jqtext.Flat(doc)
				if ok {
					fmt.Fprintf(&script, "table=%s\n", bashWord(table))
				}
				fmt.Fprintf(&script, "MCP_TOOL_ARGS_JSON=%s\n", bashWord(string(doc)))
				for range filters {
					filter := d.filter(doc)
					for _, byTable := range []bool{true, false} {
						if byTable && !ok {
							continue
						}
						if !byTable && d.IntN(20) > 0 { // each of these starts a program
							continue
						}
						asked = append(asked, question{doc, filter, byTable})
						if byTable {
							script.WriteString("__mcp_table \"$table\"; ")
						} else {
							script.WriteString("__mcp_text=; ")
						}
						fmt.Fprintf(&script, "MCPBASH_ARGS_FLAT=%s; ask mcp_args_get %s\n",
							map[bool]string{true: "$table", false: ""}[byTable], bashWord(filter))
					}
				}
			}
			x := tool{way: byProgram, script: script.String(), dir: t.TempDir()}
			got := x.run(t)
			fields := strings.Split(got.out, "\x00")
			if got.rc != 0 || got.err != "" || len(fields) != 3*len(asked)+1 {
				t.Fatalf("%d fields for %d questions, rc %d: %.500s", len(fields), len(asked), got.rc, got.err)
			}
			tables := 0
			for i, q := range asked {
				want := expected(t, q.doc, q.filter)
				have := outcome{out: fields[3*i], err: fields[3*i+2]}
				fmt.Sscan(fields[3*i+1], &have.rc)
				if have != want {
					t.Errorf("document %.300s\nfilter %q, table %t:\n got %.300q\nwant %.300q", q.doc, q.filter,
						q.table, fmt.Sprint(have), fmt.Sprint(want))
				}
				if q.table {
					tables++
				}
			}
			if tables < 150 || len(asked)-tables < 15 {
				t.Errorf("only %d answers by table and %d by program", tables, len(asked)-tables)
			}
		})
	}
}

// with returns an object with the value, because arguments are objects.
func with(doc json.RawMessage, d dice) json.RawMessage {
	if rawjson.KindOf(doc) == rawjson.Object {
		return doc
	}
	var b rawjson.Builder
	return b.Object().Name(d.pick(keys[:8]...)).Raw(doc).End().Bytes()
}

// expected returns the outcome of SDK-210.
func expected(t *testing.T, doc json.RawMessage, filter string) outcome {
	t.Helper()
	s, ok := jq.ParseSimple(filter)
	if !ok {
		t.Fatalf("%q is not simple", filter)
	}
	value, err := s.Eval(doc)
	if err != nil {
		return outcome{rc: 5, err: fmt.Sprintf("mcp_args_get: jq error (rc=5) filter=%s payload_len=%d", filter,
			len([]rune(string(doc))))}
	}
	if value == nil {
		return outcome{}
	}
	return out(strings.TrimRight(strings.ReplaceAll(string(jqtext.AppendText(nil, value)), "\x00", ""), "\n"))
}
