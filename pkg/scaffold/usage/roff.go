package usage

import "strings"

// glyphs maps roff's names of characters, and of strings that pages define, to text.
var glyphs = map[string]string{
	"aq": "'", "dq": `"`, "lq": `"`, "rq": `"`, "oq": "'", "cq": "'", "bu": "*", "em": "--", "en": "-", "hy": "-",
	"mi": "-", "ha": "^", "ti": "~", "rs": `\`, "at": "@", "sh": "#", "bv": "|", "or": "|", "la": "<", "ra": ">",
	"lB": "[", "rB": "]", "lC": "{", "rC": "}", "co": "(c)", "ga": "`", "aa": "'", ">=": ">=", "<=": "<=", "!=": "!=",
	"->": "->", "<-": "<-", "mu": "x", "sl": "/", "ul": "_", "Do": "$", "eq": "=", "pl": "+", "Aq": "'", "Lq": `"`,
	"Rq": `"`, `L"`: `"`, `R"`: `"`, "q": `"`, "Ba": "|", "Gt": ">", "Lt": "<", "--": "--", "Pm": "+-", "nb": " ",
}

// escaped returns the name after an escape sequence, as in \(xx, \[xxx] or \fx, and the index after it.
func escaped(s string, i int) (name string, next int) {
	switch {
	case i >= len(s):
		return "", len(s)
	case s[i] == '(':
		return s[i+1 : min(i+3, len(s))], min(i+3, len(s))
	case s[i] == '[':
		if end := strings.IndexByte(s[i:], ']'); end > 0 {
			return s[i+1 : i+end], i + end + 1
		}
	}
	return s[i : i+1], i + 1
}

// roff returns a text without roff's escapes. Text in italics is between \x01 and \x02.
func roff(s string) string {
	if !strings.ContainsRune(s, '\\') {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			if s[i] != '\\' {
				b.WriteByte(s[i])
			}
			i++
			continue
		}
		c := s[i+1]
		i += 2
		name := ""
		switch {
		case strings.IndexByte("-.'`_", c) >= 0:
			b.WriteByte(c)
		case strings.IndexByte(" ~0t", c) >= 0:
			b.WriteByte(' ')
		case strings.IndexByte(`e\E`, c) >= 0:
			b.WriteByte('\\')
		case c == 'f':
			if name, i = escaped(s, i); name == "I" || name == "2" {
				b.WriteByte(1)
			} else {
				b.WriteByte(2)
			}
		case c == '*':
			name, i = escaped(s, i)
			b.WriteString(glyphs[name])
		case c == '(' || c == '[':
			name, i = escaped(s, i-1)
			b.WriteString(glyphs[name])
		case strings.IndexByte("FmMgnkVYs", c) >= 0:
			if i < len(s) && (s[i] == '+' || s[i] == '-') {
				i++
			}
			_, i = escaped(s, i)
		case strings.IndexByte("hvwoDlLNXZbxSHCABR", c) >= 0 && i < len(s) && s[i] == '\'':
			if end := strings.IndexByte(s[i+1:], '\''); end >= 0 {
				i += end + 2
			}
		case c == '"' || c == '#':
			return b.String()
		}
	}
	return b.String()
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
