// Prose checks what people read against the rules in styles/Plain, with Vale: pages,
// comments, and the messages and help texts in Go programs.
//
//	go run .                  every file of the repository
//	go run . docs pkg/serve   these files and folders
//	go run . -count           numbers of alerts instead of alerts
//
// Alerts are printed as file:line:column: message [rule]. The exit code is 1 if there are any.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

func main() {
	root := flag.String("root", "../../..", "folder of the repository")
	count := flag.Bool("count", false, "print the number of alerts for each rule and each folder")
	flag.Parse()
	alerts, err := checkFiles(*root, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(2)
	}
	if *count {
		printCounts(os.Stdout, alerts)
	} else {
		for _, a := range alerts {
			fmt.Println(a)
		}
	}
	if len(alerts) > 0 {
		fmt.Fprintf(os.Stderr, "prose: %d alerts\n", len(alerts))
		os.Exit(1)
	}
}

// An alert is a place in a file where a rule fails.
type alert struct {
	position
	rule    string
	message string
}

func (a alert) String() string {
	return fmt.Sprintf("%s:%d:%d: %s [%s]", a.file, a.line, a.column, a.message, a.rule)
}

// checkFiles returns the alerts for the files of the repository that are named or in
// named folders, sorted by position. Without names it checks all files.
func checkFiles(root string, names []string) ([]alert, error) {
	files, err := listFiles(root)
	if err != nil {
		return nil, err
	}
	fixed, err := fixedMessages(root, files)
	if err != nil {
		return nil, err
	}
	var texts []text
	for _, file := range files {
		if len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return within(file, name) }) {
			continue
		}
		found, err := extract(root, file, fixed)
		if err != nil {
			return nil, err
		}
		texts = append(texts, found...)
	}
	return check(texts)
}

func within(file, folder string) bool {
	folder = path.Clean(folder)
	return folder == "." || file == folder || strings.HasPrefix(file, folder+"/")
}

// printCounts prints a table with a line for each folder and a column for each rule.
func printCounts(w io.Writer, alerts []alert) {
	counts := map[string]map[string]int{"total": {}}
	for _, a := range alerts {
		place := placeOf(a.file)
		if counts[place] == nil {
			counts[place] = map[string]int{}
		}
		for _, row := range []string{place, "total"} {
			counts[row][a.rule]++
			counts[row]["total"]++
		}
	}
	rules := slices.Sorted(maps.Keys(counts["total"]))
	fmt.Fprintf(w, "%-28s", "")
	for _, rule := range rules {
		fmt.Fprintf(w, " %11s", rule)
	}
	fmt.Fprintln(w)
	rows := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b]["total"], counts[a]["total"]), strings.Compare(a, b))
	})
	for _, row := range rows {
		fmt.Fprintf(w, "%-28s", row)
		for _, rule := range rules {
			fmt.Fprintf(w, " %11d", counts[row][rule])
		}
		fmt.Fprintln(w)
	}
}

// placeOf returns the row of a file in the table: a page itself, or the two upper folders.
func placeOf(file string) string {
	parts := strings.Split(file, "/")
	if strings.HasSuffix(file, ".md") && parts[0] == "docs" || len(parts) == 1 {
		return file
	}
	return strings.Join(parts[:min(2, len(parts)-1)], "/")
}
