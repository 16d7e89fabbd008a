package jqtext

// A Palette has the terminal sequences that start each colour. The zero value writes no
// colours.
type Palette struct {
	null, boolean, number, text, array, object, name string
}

const resetColor = "\x1b[0m"

// TerminalColors are the colours of -C, which are the same as jq's.
var TerminalColors = Palette{
	null:    "\x1b[0;90m",
	boolean: "\x1b[0;39m",
	number:  "\x1b[0;39m",
	text:    "\x1b[0;32m",
	array:   "\x1b[1;39m",
	object:  "\x1b[1;39m",
	name:    "\x1b[34;1m",
}

// literal returns the colour of a number or word, given its first character.
func (p *Palette) literal(first byte) string {
	switch first {
	case 'n':
		return p.null
	case 't', 'f':
		return p.boolean
	}
	return p.number
}
