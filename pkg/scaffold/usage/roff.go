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
	"-": "-", ".": ".", "'": "'", "`": "`", "_": "_", " ": " ", "~": " ", "0": " ", "t": " ", "e": `\`, `\`: `\`, "E": `\`,
}

// escape matches an escape sequence. It is a letter with a name, as in \fB, \f(xx or \f[xxx], or with a text
// in quotes. Others are the name of a character, or a comment.
var escape = lazyregexp.New(`\\(?:["#].*|[f*](?:\(.{0,2}|\[[^]]*]|.)|[FmMgnkVYs][+-]?(?:\(.{0,2}|\[[^]]*]|.)?|` +
	`[hvwoDlLNXZbxSHCABR]'[^']*'|\(.{0,2}|\[[^]]*]|.?)`)

// roff returns a text without roff's escapes. Text in italics is between \x01 and \x02.
func roff(s string) string {
	return escape.ReplaceAllStringFunc(s, func(found string) string {
		name := strings.TrimRight(strings.TrimLeft(found[min(2, len(found)):], "(["), "]")
		switch c := (found + "\n")[1:2]; {
		case c == "f" && (name == "I" || name == "2"):
			return "\x01"
		case c == "f":
			return "\x02"
		case strings.Contains("*([", c):
			return glyphs[name]
		default:
			return glyphs[c]
		}
	})
}

// mdocText are the mdoc macros that produce text.
var mdocText = " Fl Ar Op Oo Oc Cm Ic Pa Ev Xr Dq Sq Ql Li Em Sy Qq Bq Brq Pq Aq Do Dc So Sc Qo Qc Bo Bc Pf Ns Va Vt " +
	"Ad Er Fa Fn Ft Dv Tn Ux Bx No Cd Lk Mt Ao Ac Po Pc Xo Xc Bro Brc Ap Sm Sx Ms Nm St Ex "

func isMdocText(name string) bool { return name != "" && strings.Contains(mdocText, " "+name+" ") }

// mdocMarks maps the macros that open or close a pair to what they write. Macros that enclose the rest of their
// line write both.
var mdocMarks = map[string]string{"Op": "[]", "Bq": "[]", "Brq": "{}", "Dq": "''", "Qq": "''", "Sq": "''", "Ql": "''",
	"Aq": "<>", "Pq": "()", "Oo": "[", "Bo": "[", "Bro": "{", "Oc": "]", "Bc": "]", "Brc": "}"}

// mdocLine returns the text of a line of mdoc macros.
func mdocLine(args []string) string {
	var b strings.Builder
	state, closing := "", ""   // the macro of the next words, and what ends the line
	glue, fresh := true, false // no space precedes the next word; .Fl has no word yet
	put := func(s string) {
		if !glue && !strings.ContainsAny(s[:1], ".,;:)]}") {
			b.WriteByte(' ')
		}
		b.WriteString(s)
		glue = strings.Contains("[{(<", s)
	}
	for i, a := range args[:min(len(args), 500)] {
		mark, word, macro := mdocMarks[a], plainText(roff(a)), isMdocText(a)
		if fresh && macro { // .Fl without a word is a dash
			put("-")
			glue = true
		}
		switch {
		case mark != "":
			put(mark[:1])
			glue = len(mark) == 2 || strings.Contains("[{", mark)
			closing, state, fresh = mark[1:]+closing, "", false
		case macro:
			glue = glue || a == "Ns"
			state, fresh = a, a == "Fl"
			if a == "Ar" && (i+1 == len(args) || isMdocText(args[i+1])) {
				put("<file> ...")
			}
		case word == "":
		case len(word) == 1 && strings.Contains("|.,;:)]([", word):
			put(word)
		case state == "Fl":
			put("-" + word)
			fresh = false
		case state == "Ar" && word != "...":
			bare := strings.TrimSuffix(word, " ...")
			put("<" + strings.Trim(bare, "<>") + ">" + word[len(bare):])
		default:
			put(word)
		}
	}
	return strings.TrimSpace(b.String() + closing)
}
