//go:build programs

package sets

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// A score counts what is right about a tool, or about several.
type score struct {
	tasks, worked                     int // with the tool as wrapped by default
	asked                             int // tasks that work with the options they need asked for by name
	used, usedOffered                 int
	options, found                    int // the options of the facts
	kinds, kindsWider                 int // of found: right, and a string where the facts know more
	repeats                           int // of found: whether it can be repeated is right
	repeatable, repeatableSeen        int
	inventedOptions, inventedOperands int
	dangerous                         int
	misses                            []string // everything that is wrong
	missed                            []string // the tasks that do not work
}

func (s *score) miss(format string, args ...any) {
	s.misses = append(s.misses, fmt.Sprintf(format, args...))
}

// compare compares the findings about a program with the facts.
func (s *score) compare(p *program, made tool) {
	known := map[string]bool{"-h": true, "--help": true, "--version": true}
	for _, name := range p.Others {
		known[name] = true
	}
	for _, o := range p.Options {
		s.compareOption(o, made.report)
		for _, name := range o.Names {
			known[name] = true
		}
	}
	for _, o := range made.Options {
		for _, name := range o.Names {
			if !known["*"] && !known[spelled(name)] && !known[name] {
				s.inventedOptions++
				s.miss("option %s is invented", name)
				break
			}
		}
	}
	s.used = len(p.Used)
	for _, name := range p.Used {
		if o, _, ok := made.find(name); ok && o.Offered != "" {
			s.usedOffered++
		} else {
			s.miss("%s, which people use, is not offered", name)
		}
	}
	for name, why := range p.Dangerous {
		if made.Source != "recipe" { // the kernel confines the tool
			break
		}
		o, _, ok := made.find(name)
		// A closed choice has no value that is dangerous, such as a formatter in a file. -C of git is not that of a command.
		if ok && o.Offered != "" && made.properties[o.Offered].Enum == nil && !made.isWhere(o) {
			s.dangerous++
			s.miss("dangerous %s is offered (%s)", name, why)
		}
	}
	most := max(p.MostOperands, len(p.Operands))
	operands := 0
	for _, o := range made.Operands {
		if o.Name == "arguments" || o.Name == "options" && made.Source != "recipe" {
			continue
		}
		if operands++; operands > most {
			s.inventedOperands++
			s.miss("operand %s is invented", o.Name)
		}
	}
}

// compareOption compares the findings about an option with a fact.
func (s *score) compareOption(fact option, made report) {
	s.options++
	if fact.Repeat {
		s.repeatable++
	}
	var o found
	ok := false
	for _, name := range fact.Names {
		if o, _, ok = made.find(name); ok {
			break
		}
	}
	if !ok {
		return
	}
	s.found++
	kinds := strings.Split(fact.Kind, "|")
	stringly := slices.ContainsFunc(kinds, func(k string) bool { return k == "size" || k == "duration" || k == "url" })
	switch {
	case slices.Contains(kinds, o.Kind), o.Kind == "string" && stringly:
		s.kinds++
	case o.Kind == "string" && !slices.Contains(kinds, "switch"):
		s.kindsWider++
	default:
		s.miss("%s is %s, not %s", fact.Names[0], o.Kind, fact.Kind)
	}
	if o.Repeat == fact.Repeat {
		s.repeats++
	}
	if o.Repeat && fact.Repeat {
		s.repeatableSeen++
	}
}

// total adds up the scores that are counted.
func total(list []*score, counted func(i int) bool) (sum score) {
	for i, s := range list {
		if s == nil || !counted(i) {
			continue
		}
		sum.tasks += s.tasks
		sum.worked += s.worked
		sum.asked += s.asked
		sum.used += s.used
		sum.usedOffered += s.usedOffered
		sum.options += s.options
		sum.found += s.found
		sum.kinds += s.kinds
		sum.kindsWider += s.kindsWider
		sum.repeats += s.repeats
		sum.repeatable += s.repeatable
		sum.repeatableSeen += s.repeatableSeen
		sum.inventedOptions += s.inventedOptions
		sum.inventedOperands += s.inventedOperands
		sum.dangerous += s.dangerous
	}
	return sum
}

// table returns a line for each program and mode, the misses, and a summary in Markdown.
func table(all []*program, both [2][]*score) string {
	var b strings.Builder
	modes := [2]string{"with recipes", "from help alone"}
	for i, list := range both {
		fmt.Fprintf(&b, "\n\n%s\n", modes[i])
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "program\tstyle\trecipe\ttasks\tasked for\tused offered\tfound\tkinds\twider\trepeat\t"+
			"invented options\toperands\tdangerous")
		for n, s := range list {
			if s == nil {
				continue
			}
			fmt.Fprintf(w, "%s\t%s\t%v\t%d/%d\t%d/%d\t%d/%d\t%d/%d\t%d/%d\t%d\t%d/%d\t%d\t%d\t%d\n", all[n].name,
				all[n].Style, all[n].Recipe, s.worked, s.tasks, s.asked, s.tasks, s.usedOffered, s.used, s.found, s.options,
				s.kinds, s.found, s.kindsWider, s.repeats, s.found, s.inventedOptions, s.inventedOperands, s.dangerous)
		}
		w.Flush()
		for n, s := range list {
			if s == nil {
				continue
			}
			for _, miss := range s.misses {
				fmt.Fprintf(&b, "  %s: %s\n", all[n].name, miss)
			}
		}
	}
	isRecipe := func(i int) bool { return all[i].Recipe }
	every := func(int) bool { return true }
	columns := []score{total(both[0], isRecipe), total(both[0], every), total(both[1], every)}
	b.WriteString("\nSummary\n\n| | programs with recipes | all, recipes where they exist | all, help alone |\n" +
		"|---|---|---|---|\n")
	row := func(name string, cell func(score) string) {
		fmt.Fprintf(&b, "| %s |", name)
		for _, s := range columns {
			fmt.Fprintf(&b, " %s |", cell(s))
		}
		b.WriteString("\n")
	}
	row("tasks that work at the first call, as wrapped by default", func(s score) string {
		return share(s.worked, s.tasks)
	})
	row("tasks that work at the first call, with the dangerous options they need asked for by name",
		func(s score) string { return share(s.asked, s.tasks) })
	row("most used options offered", func(s score) string { return share(s.usedOffered, s.used) })
	row("options found", func(s score) string { return share(s.found, s.options) })
	row("kinds right", func(s score) string { return share(s.kinds, s.found) })
	row("kinds wider than they are", func(s score) string { return share(s.kindsWider, s.found) })
	row("repeatable or not is right", func(s score) string { return share(s.repeats, s.found) })
	row("repeatable options seen", func(s score) string { return share(s.repeatableSeen, s.repeatable) })
	row("options invented", func(s score) string { return fmt.Sprint(s.inventedOptions) })
	row("operands invented", func(s score) string { return fmt.Sprint(s.inventedOperands) })
	row("dangerous options offered unasked", func(s score) string { return fmt.Sprint(s.dangerous) })
	return b.String()
}

func share(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d (%d %%)", part, whole, part*100/whole)
}
