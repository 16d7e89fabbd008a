package usage

import (
	"strings"

	"mcp-bash/pkg/text/lazyregexp"
)

// glyphs maps roff's names of characters, and of strings that pages define, to text.
var glyphs = map[string]string{
	"aq": "'", "dq": `"`, "lq": `"`, "rq": `"`, "oq": "'", "cq": "'", "bu": "*", "em": "--", "en": "-", "hy": "-",
	"mi": "-", "ha": "^", "ti": "~", "rs": `\`, "at": "@", "sh": "#", "bv": "|", "or": "|", "la": "<", "ra": ">",
	"lB": "[", "rB": "]", "lC": "{", "rC": "}", "co": "(c)", "ga": "`", "aa": "'", ">=": ">=", "<=": "<=", "!=": "!=",
	"->": "->", "<-": "<-", "mu": "x", "sl": "/", "ul": "_", "Do": "$", "eq": "=", "pl": "+", "Aq": "'", "Lq": `"`,
	"Rq": `"`, `L"`: `"`, `R"`: `"`, "q": `"`, "Ba": "|", "Gt": ">", "Lt": "<", "--": "--", "Pm": "+-", "nb": " ",
}

// escape matches an escape sequence. It is a letter with a name, as in \fB, \f(xx or \f[xxx], or with a text
// in quotes. Others are the name of a character, or a comment.
var escape = lazyregexp.New(`\\(?:["#].*|[f*](?:\(.{0,2}|\[[^]]*]|.)|[FmMgnkVYs][+-]?(?:\(.{0,2}|\[[^]]*]|.)?|` +
	`[hvwoDlLNXZbxSHCABR]'[^']*'|\(.{0,2}|\[[^]]*]|.?)`)

// roff returns a text without roff's escapes. Text in italics is between \x01 and \x02.
func roff(s string) string {
	return escape.ReplaceAllStringFunc(s, func(found string) string {
		name := strings.TrimRight(strings.TrimLeft(found[min(2, len(found)):], "(["), "]")
		switch c := (found + " ")[1]; {
		case len(found) == 1:
			return ""
		case strings.IndexByte("-.'`_", c) >= 0:
			return string(c)
		case strings.IndexByte(" ~0t", c) >= 0:
			return " "
		case strings.IndexByte(`e\E`, c) >= 0:
			return `\`
		case c == 'f' && (name == "I" || name == "2"):
			return "\x01"
		case c == 'f':
			return "\x02"
		case c == '*' || c == '(' || c == '[':
			return glyphs[name]
		}
		return ""
	})
}

// mdocText are the mdoc macros that produce text.
var mdocText = " Fl Ar Op Oo Oc Cm Ic Pa Ev Xr Dq Sq Ql Li Em Sy Qq Bq Brq Pq Aq Do Dc So Sc Qo Qc Bo Bc Pf Ns Va Vt " +
	"An Ad Er Fa Fn Ft Dv Tn Ux Bx No Cd Lk Mt Ao Ac Po Pc Xo Xc Bro Brc Ap Sm Sx Ms Nm St Ex "

func isMdocText(name string) bool { return name != "" && strings.Contains(mdocText, " "+name+" ") }

// mdocPairs maps the macros that enclose the rest of their line to what they write around it.
var mdocPairs = map[string]string{"Op": "[]", "Bq": "[]", "Brq": "{}", "Dq": "''", "Qq": "''", "Sq": "''", "Ql": "''",
	"Aq": "<>", "Pq": "()"}

// mdocMarks maps the macros that open or close a pair.
var mdocMarks = map[string]string{"Oo": "[", "Bo": "[", "Bro": "{", "Oc": "]", "Bc": "]", "Brc": "}"}

// An mdocWriter writes the text of a line of mdoc macros.
type mdocWriter struct {
	b       strings.Builder
	closing string // is added at the end of the line
	state   string // Fl, Ar or another macro that applies to words up to the next one
	glue    bool   // the next word follows without a space
	fresh   bool   // a macro that has no word yet
}

func (w *mdocWriter) put(s string) {
	if w.b.Len() > 0 && !w.glue && s != "" && !strings.ContainsAny(s[:1], ".,;:)]}") {
		w.b.WriteByte(' ')
	}
	w.glue = false
	w.b.WriteString(s)
}

// mdocLine returns the text of a line of mdoc macros.
func mdocLine(args []string) string {
	w := &mdocWriter{}
	for _, a := range args[:min(len(args), 500)] {
		if isMdocText(a) {
			w.macro(a)
		} else {
			w.word(plainText(roff(a)))
		}
	}
	w.empty()
	for i := len(w.closing) - 1; i >= 0; i-- {
		w.glue = true
		w.put(w.closing[i : i+1])
	}
	return strings.TrimSpace(w.b.String())
}

// empty writes what a macro without words stands for.
func (w *mdocWriter) empty() {
	if w.fresh && w.state == "Fl" {
		w.put("-")
	} else if w.fresh && w.state == "Ar" {
		w.put("<file> ...")
	}
	w.fresh = false
}

func (w *mdocWriter) macro(a string) {
	flag := w.fresh && w.state == "Fl"
	w.empty()
	w.glue = w.glue || flag
	w.state = ""
	switch pair, mark := mdocPairs[a], mdocMarks[a]; {
	case a == "Fl" || a == "Ar":
		w.state, w.fresh = a, true
	case a == "Ns":
		w.glue = true
	case pair != "":
		w.put(pair[:1])
		w.glue = true
		w.closing += pair[1:]
	case mark != "":
		w.put(mark)
		w.glue = strings.Contains("[{", mark)
	}
}

func (w *mdocWriter) word(word string) {
	switch {
	case word == "" && w.state != "Fl":
		return
	case word == "|" || word == "(" || word == "[":
		w.put(word)
		w.glue = word != "|"
		return
	case len(word) == 1 && strings.Contains(".,;:)]", word):
		w.glue = true
	case w.state == "Fl":
		word = "-" + word
	case w.state == "Ar" && word == "...":
		w.glue = true
	case w.state == "Ar":
		word = "<" + strings.Trim(strings.TrimSuffix(word, " ..."), "<>") + ">" +
			strings.Repeat(" ...", strings.Count(word, " ..."))
	}
	w.fresh = false
	w.put(word)
}
