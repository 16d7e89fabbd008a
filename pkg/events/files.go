package events

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// Ended returns the ended files of a record in order, from the entries of its folder, and the name for the next one.
// The record audit.jsonl has audit.jsonl.000001 and so on.
func Ended(record string, entries []fs.DirEntry) (files []string, next string) {
	numbered := func(n int) string { return fmt.Sprintf("%s.%06d", record, n) }
	var numbers []int
	for _, e := range entries {
		text, ok := strings.CutPrefix(e.Name(), record+".")
		if n, err := strconv.Atoi(text); ok && err == nil && n > 0 && numbered(n) == e.Name() {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	last := 0
	for _, last = range numbers {
		files = append(files, numbered(last))
	}
	return files, numbered(last + 1)
}

// InFiles reports whether a value of MCPBASH_AUDIT names a file or a folder.
func InFiles(to string) bool {
	return to != "" && to != "off" && to != "stderr" && to != "journald" && !strings.HasPrefix(to, "unix:")
}
