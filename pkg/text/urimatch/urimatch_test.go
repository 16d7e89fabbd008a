package urimatch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// matched returns the result of a set for a URI: the name, then variable=value.
func matched(s *Set, uri string) string {
	t, values, ok := s.Match(uri)
	if !ok {
		return ""
	}
	out := []string{t.Name}
	for _, v := range values {
		out = append(out, v.Name+"="+v.Text)
	}
	return strings.Join(out, " ")
}

func set(texts ...string) *Set {
	var list []Template
	for i, text := range texts {
		list = append(list, Template{Name: string(rune('a' + i)), Text: text})
	}
	return NewSet(list)
}

// RES-170 to RES-173: templates, URIs and the values of variables.
func TestMatch(t *testing.T) {
	for _, tc := range []struct{ template, uri, want string }{
		{"x://{id}", "x://42", "a id=42"},
		{"x://{id}/{+rest}", "x://42/a/b%2Fc", "a id=42 rest=a/b%2Fc"},
		{"x://{id}", "x://", ""}, {"x://{id}", "x://a/b", ""}, {"x://{id}", "x://a?b", ""}, {"x://{id}", "x://a#b", ""},
		{"x://{id}", "X://a", ""}, {"x://A{id}", "x://aa", ""}, {"x://{ID}", "x://a", "a ID=a"},
		{"x://{+p}", "x://", ""}, {"x://{+p}", "x://a?b#c/d", "a p=a?b#c/d"},
		{"x://d{#part}", "x://d#p/q#r", "a part=p/q#r"}, {"x://d{#part}", "x://d#", ""}, {"x://d{#part}", "x://d", ""},
		{"x://{a}.{b}", "x://1.2.3", "a a=1 b=2.3"}, {"x://a.b+c(d)*{v}", "x://a.b+c(d)*e", "a v=e"},
		{"x://a.b{v}", "x://aXbc", ""}, {"x://{v}", "xx://v", ""}, {"x://{v}/end", "x://v/end/", ""},
		{"x://{n_1}-{N2}", "x://ü-日本", "a n_1=ü N2=日本"},
		{"x://{+a}/{+b}", "x://p/q/r", "a a=p b=q/r"}, {"x://{+a}/end", "x://p/end/q/end", "a a=p/end/q"},
		{"x://{+a}/{b}", "x://p/q/r", "a a=p/q b=r"},
		// Templates whose variables cannot be found.
		{"x://{/v}", "x:///a", ""}, {"x://a{?v}", "x://a?v=1", ""}, {"x://a{&v}", "x://a&v=1", ""},
		{"x://a{;v}", "x://a;v=1", ""}, {"x://a{.v}", "x://a.b", ""}, {"x://{=v}", "x://a", ""},
		{"x://{a,b}", "x://1,2", ""}, {"x://{v*}", "x://a", ""}, {"x://{v:3}", "x://abc", ""},
		{"x://{a}{b}", "x://12", ""}, {"x://{a}{+b}", "x://12", ""}, {"x://{a}/{a}", "x://1/1", ""},
		{"x://{a}/{+a}", "x://1/1", ""}, {"x://{a", "x://{a", ""}, {"x://a}/{b}", "x://a}/b", ""},
		{"x://{{a}}", "x://{b}", ""}, {"x://{}", "x://{}", ""}, {"x://{ a }", "x://a", ""}, {"x://{a.b}", "x://a", ""},
		{"x://{a-b}", "x://a", ""}, {"x://{%41}", "x://a", ""}, {"x://{+}", "x://a", ""}, {"x://a", "x://a", ""},
		// These URIs match nothing.
		{"x://{v}", "x://a b", ""}, {"x://{v}", "x://a\tb", ""}, {"x://{v}", "x://a\u00a0b", ""},
		{"x://{v}", "x://a\u007f", ""}, {"x://{v}", "x://a\u0085", ""}, {"x://{v}", "x://\x01", ""},
		{"x://{v}", "x://a\u2028", ""}, {"x://{v}", "x://\xff", ""}, {"x://{v}", "x://a\n", ""},
		{"x://{v}", "x://" + strings.Repeat("é", 2044), "a v=" + strings.Repeat("é", 2044)},
		{"x://{v}", "x://" + strings.Repeat("é", 2045), ""},
	} {
		if got := matched(set(tc.template), tc.uri); got != tc.want {
			t.Errorf("%s matches %.40q: %.60q, want %.60q", tc.template, tc.uri, got, tc.want)
		}
	}
}

// RES-171: the most literal characters, then the fewest expressions, then the lower name.
func TestPreference(t *testing.T) {
	for _, tc := range []struct {
		templates []string
		uri, want string
	}{
		{[]string{"x://{+all}", "x://items/{id}"}, "x://items/7", "b id=7"},
		{[]string{"x://{a}/{b}", "x://{+a}/"}, "x://p/q", "a a=p b=q"},
		{[]string{"x://{a}/{b}", "x:///{+a}"}, "x:///q", "b a=q"},
		{[]string{"x://{a}-{b}", "x://-{a}"}, "x://--", "b a=-"},
		{[]string{"x://{a}.{b}", "x://{c}."}, "x://1.2.", "b c=1.2"},
		{[]string{"x://{a}", "x://{b}"}, "x://1", "a a=1"},
		{[]string{"x://d{+r}", "x://d{#r}"}, "x://d#1", "b r=1"}, // the # counts
		{[]string{"x://dd{r}", "x://ü{r}/"}, "x://ddd", "a r=d"},
		{[]string{"x://éé{r}", "x://{a}eee"}, "x://ééeee", "b a=éé"}, // characters, not bytes
		{[]string{"x://{?q}", "x://{a}"}, "x://1", "b a=1"},
	} {
		if got := matched(set(tc.templates...), tc.uri); got != tc.want {
			t.Errorf("%q, %s: %q, want %q", tc.templates, tc.uri, got, tc.want)
		}
	}
	list := []Template{{Name: "b", Text: "x://{v}"}, {Name: "a", Text: "x://{w}"}}
	if got := matched(NewSet(list), "x://1"); got != "a w=1" {
		t.Error(got)
	}
	var none *Set
	if _, _, ok := none.Match("x://1"); ok || none.HasScheme("x") || none.Promised("x://1") != "" {
		t.Error("the nil set is not empty")
	}
}

// brute finds the values by trying every length of every variable, the shortest first.
func brute(parts []part, uri []rune) ([]string, bool) {
	if len(parts) == 0 {
		return nil, len(uri) == 0
	}
	first, rest := parts[0], parts[1:]
	if !first.expression {
		literal := []rune(first.text)
		if len(uri) < len(literal) || !slices.Equal(uri[:len(literal)], literal) {
			return nil, false
		}
		return brute(rest, uri[len(literal):])
	}
	forbidden := "/?#"
	switch first.text[0] {
	case '#':
		if len(uri) == 0 || uri[0] != '#' {
			return nil, false
		}
		uri, forbidden = uri[1:], ""
	case '+':
		forbidden = ""
	}
	for n := 1; n <= len(uri) && !strings.ContainsRune(forbidden, uri[n-1]); n++ {
		if values, ok := brute(rest, uri[n:]); ok {
			return append([]string{string(uri[:n])}, values...), true
		}
	}
	return nil, false
}

// RES-171: if a URI can be split in several ways, the leftmost variable is as short as possible.
func TestLeftmostLeast(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	matched, several := 0, 0
	for range 50_000 {
		var template, uri strings.Builder
		random := func(to *strings.Builder, n int) {
			for range n {
				to.WriteString(pick("a", "a", "/", "b", "#", "?", "é", "."))
			}
		}
		for i := range 1 + r.IntN(4) {
			var literal strings.Builder
			random(&literal, r.IntN(3))
			fmt.Fprintf(&template, "%s{%sv%d}", literal.String(), pick("", "+", "+", "#"), i)
			uri.WriteString(literal.String())
			random(&uri, r.IntN(5))
		}
		end := pick("", "", "a", "/a", "é")
		template.WriteString(end)
		uri.WriteString(end)
		parts, ok := partsOf(template.String())
		if !ok {
			t.Fatal(template.String())
		}
		adjacent := strings.Contains(template.String(), "}{")
		want, wanted := brute(parts, []rune(uri.String()))
		_, values, got := set(template.String()).Match(uri.String())
		if adjacent {
			if got {
				t.Fatalf("%s has neighbouring expressions and matches", template.String())
			}
			continue
		}
		var have []string
		for _, v := range values {
			have = append(have, v.Text)
		}
		if got != wanted || !slices.Equal(have, want) {
			t.Fatalf("%s, %s: %q, want %q", template.String(), uri.String(), have, want)
		}
		if got {
			matched++
			if len(want) > 1 {
				several++
			}
		}
	}
	if matched < 5000 || several < 1000 {
		t.Errorf("only %d matches, %d of them with several variables", matched, several)
	}
}

// RES-172: a URI that nearly matches takes no more time than one that matches. A matcher that
// backtracks would take 2048 to the power of 12 steps.
func TestHostileURI(t *testing.T) {
	var template strings.Builder
	template.WriteString("x:/")
	for i := range 12 {
		fmt.Fprintf(&template, "/{+v%d}", i)
	}
	template.WriteString("/end")
	s := set(template.String())
	began := time.Now()
	for _, uri := range []string{"x://" + strings.Repeat("/a", 1000), "x:" + strings.Repeat("/", 2000),
		"x://" + strings.Repeat("/end", 500) + "x"} {
		if got := matched(s, uri); got != "" {
			t.Errorf("%.80s", got)
		}
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// RES-40: a template without extractable variables promises its type for the URIs of its form.
func TestPromised(t *testing.T) {
	for template, uris := range map[string]string{
		"x://{a,b}/data": "x://1/data x://a%20b/data x://a,b/data !x://1/2/data !x://1/data2 " +
			"!xx://1/data !x://1/data?q",
		"x://a{/segments*}":            "x://a x://a/b x://a/b/c !x://ab !x://a?b",
		"x://a{?q,lang}{&more}{#part}": "x://a x://a?q=1&lang=de x://a?q=1&more=2#p x://a&q=1#y !x://a/b?q=1",
		"x://a{.ext}{;opt}":            "x://a x://a.tar.gz x://a;opt=1 x://a.b;c !x://a/b !x://ab",
		"x://{+path}{?q}":              "x://a/b/c.txt x://a?b#c !y://a",
		"x://{v}":                      "!x://v", // Match finds this URI
		"x://{":                        "!x:// !x://{ !x://a",
		"x://{}":                       "!x:// !x://{}",
	} {
		s := NewSet([]Template{{"t", template, "text/x"}})
		for uri := range strings.FieldsSeq(uris) {
			uri, not := strings.CutPrefix(uri, "!")
			if got := s.Promised(uri) == "text/x"; got == not {
				t.Errorf("%s promises for %s: %v", template, uri, got)
			}
		}
	}
}

// RES-32: the scheme of a URI or template.
func TestScheme(t *testing.T) {
	for text, want := range map[string]string{
		"x://a": "x", "Shop://{a}": "Shop", "{s}://a": "", "x{a}://b": "", "x:a": "", "": "", "git+https://a": "git+https",
		"a/{b}": "",
	} {
		if got := Scheme(text); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
	s := set("Shop://{?q}", "{x}://y", "y://{a", "z://{v}")
	for scheme, want := range map[string]bool{"Shop": true, "shop": false, "{x}": false, "y": true, "z": true, "": false} {
		if got := s.HasScheme(scheme); got != want {
			t.Errorf("%q: %v", scheme, got)
		}
	}
}

func FuzzMatch(f *testing.F) {
	for _, seed := range []string{"", "x://{a}", "x://{+a}/{b}{#c}", "{c}{.d}", "{a", "a}", "{}", "\\{a}[", "{\xff}",
		"{a}{a}"} {
		f.Add(seed, "x://a/b#c")
	}
	f.Fuzz(func(t *testing.T, template, uri string) {
		s := NewSet([]Template{{"t", template, "text/x"}})
		s.Promised(uri)
		_, values, ok := s.Match(uri)
		if !ok {
			return
		}
		// A template with its values in place of the expressions is the URI.
		parts, _ := partsOf(template)
		var again strings.Builder
		for _, p := range parts {
			if !p.expression {
				again.WriteString(p.text)
				continue
			}
			if values[0].Text == "" || !utf8.ValidString(values[0].Text) {
				t.Errorf("%q", values)
			}
			if strings.HasPrefix(p.text, "#") {
				again.WriteByte('#')
			}
			again.WriteString(values[0].Text)
			values = values[1:]
		}
		if again.String() != uri {
			t.Errorf("%q and %q give %q", template, uri, again.String())
		}
	})
}

// R-62, RES-163: templates with and without variables.
func TestHasVariable(t *testing.T) {
	for template, ok := range map[string]bool{
		"{a}": true, "x/{a}/{b}": true, "{}{a}": true, "{?q*}": true, "{ a }": true, "{ü}": true,
		"": false, "x": false, "{}": false, "{  }": false, "{\t}": false, "{": false, "}": false, "}{": false, "{a": false,
		"a}":   false,
		"{a}}": false, "{{a}}": false, "{a}{": false, "{a{b}": false, "x}{a}": false,
	} {
		if HasVariable(template) != ok {
			t.Errorf("%q: %v", template, !ok)
		}
	}
}
