package debian

import (
	"fmt"
	"strings"
)

// paragraphs calls yield with each paragraph of a control file: its fields in their order. A value
// of several lines keeps its line breaks.
func paragraphs(text string, yield func(fields []field) error) error {
	var fields []field
	line := 0
	for text != "" {
		var l string
		l, text, _ = strings.Cut(text, "\n")
		l = strings.TrimSuffix(l, "\r")
		line++
		switch {
		case strings.TrimLeft(l, " \t") == "":
			if len(fields) > 0 {
				if err := yield(fields); err != nil {
					return err
				}
				fields = fields[:0]
			}
		case l[0] == '#':
		case l[0] == ' ' || l[0] == '\t':
			if len(fields) == 0 {
				return fmt.Errorf("line %d: a continuation without a field", line)
			}
			last := &fields[len(fields)-1]
			last.value += "\n" + strings.TrimSpace(l)
		default:
			name, value, found := strings.Cut(l, ":")
			if !found || name == "" || strings.ContainsAny(name, " \t") {
				return fmt.Errorf("line %d: not a field", line)
			}
			fields = append(fields, field{name, strings.TrimSpace(value)})
		}
	}
	if len(fields) > 0 {
		return yield(fields)
	}
	return nil
}

type field struct{ name, value string }

// A Package is a package of an index.
type Package struct {
	Name, Version, Architecture string
	Source, SourceVersion       string
	Filename, SHA256            string
	Size                        int64
	Homepage                    string

	depends, provides, conflicts string
	priority                     string
	archive                      *Archive
}

// A relation is a package that another one names, such as "libc6 (>= 2.36)".
type relation struct{ name, operator, version string }

// parseRelations parses a list of dependencies. Each has one or more alternatives.
func parseRelations(text string) (list [][]relation) {
	for clause := range strings.SplitSeq(text, ",") {
		var alternatives []relation
		for word := range strings.SplitSeq(clause, "|") {
			name, restriction, _ := strings.Cut(strings.TrimSpace(word), "(")
			name, _, _ = strings.Cut(strings.TrimSpace(name), ":") // name:any
			if name = strings.TrimSpace(name); name == "" {
				continue
			}
			restriction, _, _ = strings.Cut(restriction, ")")
			r := relation{name: name}
			restriction = strings.TrimSpace(restriction)
			r.version = strings.TrimSpace(strings.TrimLeft(restriction, "<>="))
			r.operator = strings.TrimSpace(restriction[:len(restriction)-len(strings.TrimLeft(restriction, "<>="))])
			alternatives = append(alternatives, r)
		}
		if len(alternatives) > 0 {
			list = append(list, alternatives)
		}
	}
	return list
}

func (r *relation) allows(version string) bool {
	if r.version == "" {
		return true
	}
	c := compareVersions(version, r.version)
	switch r.operator {
	case "<<":
		return c < 0
	case "<=", "<":
		return c <= 0
	case "=":
		return c == 0
	case ">=", ">":
		return c >= 0
	case ">>":
		return c > 0
	}
	return false
}
