package debian

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// paragraphs calls yield with each paragraph of a control file: the values of its fields. A value of several lines
// keeps its line breaks. Of two fields with one name, the last counts.
func paragraphs(text string, yield func(fields map[string]string) error) error {
	fields, last, number := map[string]string{}, "", 0
	end := func() error {
		if len(fields) == 0 {
			return nil
		}
		err := yield(fields)
		clear(fields)
		return err
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		number++
		switch {
		case strings.TrimLeft(line, " \t") == "":
			if err := end(); err != nil {
				return err
			}
		case line[0] == '#':
		case line[0] == ' ' || line[0] == '\t':
			if len(fields) == 0 {
				return fmt.Errorf("line %d: a continuation without a field", number)
			}
			fields[last] += "\n" + strings.TrimSpace(line)
		default:
			name, value, found := strings.Cut(line, ":")
			if !found || name == "" || strings.ContainsAny(name, " \t") {
				return fmt.Errorf("line %d: not a field", number)
			}
			fields[name], last = strings.TrimSpace(value), name
		}
	}
	return end()
}

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

//go:embed programs.txt
var programs string

// PackageOf returns the package that contains a program. Most packages have the name of their program.
func PackageOf(program string) string {
	for line := range strings.Lines(programs) {
		name, list, _ := strings.Cut(line, ":")
		if slices.Contains(strings.Fields(list), program) {
			return name
		}
	}
	return program
}
