package suite

import (
	"context"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
)

// A toolCoverage is the part of a tool that tests use.
type toolCoverage struct {
	tool         string
	cases        int
	used, unused []string // arguments
}

// coverage returns the coverage of each tool of the project.
func (r *runner) coverage(ctx context.Context) ([]toolCoverage, error) {
	items, err := r.listed(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]toolCoverage, 0, len(items))
	for _, item := range items {
		c := toolCoverage{tool: item.Name}
		given := map[string]bool{}
		for _, t := range r.tests {
			if t.Tool != item.Name {
				continue
			}
			c.cases++
			for name := range rawjson.All(t.Arguments) {
				given[name] = true
			}
		}
		for _, m := range rawjson.Members(rawjson.Path(item.JSON, "inputSchema", "properties")) {
			if given[m.Name] {
				c.used = append(c.used, m.Name)
			} else {
				c.unused = append(c.unused, m.Name)
			}
		}
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(a, b toolCoverage) int { return strings.Compare(a.tool, b.tool) })
	return list, nil
}

// coverageText returns a line with the numbers, and one for each tool that is not covered.
func coverageText(list []toolCoverage) cli.Lines {
	if list == nil {
		return ""
	}
	tools, used, all := 0, 0, 0
	var b strings.Builder
	for _, c := range list {
		used += len(c.used)
		all += len(c.used) + len(c.unused)
		switch {
		case c.cases == 0:
			b.WriteString(cli.Sprintf("  %s: no case\n", c.tool))
			continue
		case c.unused != nil:
			b.WriteString(cli.Sprintf("  %s: no case has %s\n", c.tool, strings.Join(c.unused, ", ")))
		}
		tools++
	}
	counts := cli.Sprintf("coverage: %d of %d tools, %d of %d arguments\n", tools, len(list), used, all)
	return cli.Lines(counts + b.String())
}
