//go:build unix

package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// The costs that operators calculate with are those that make bench measured.
func TestCosts(t *testing.T) {
	t.Parallel()
	deploy, performance := textOf(t, "DEPLOY.md"), textOf(t, "PERFORMANCE.md")
	measured := func(row string) []string { // our column
		var values []string
		for _, m := range regexp.MustCompile(`(?m)^\| `+regexp.QuoteMeta(row)+` \| ([^|]+) \|`).FindAllStringSubmatch(
			performance, -1) {
			values = append(values, m[1])
		}
		if len(values) == 0 {
			t.Errorf("PERFORMANCE.md has no row %q", row)
			values = []string{"?"}
		}
		slices.SortFunc(values, func(a, b string) int { return int(1000 * (number(a) - number(b))) })
		return values
	}
	idle, stream := measured("resident over HTTP, without clients")[0], measured("memory of a stream, 3500 of them")[0]
	processor := measured("processor time of the server")
	for cost, want := range map[string]string{
		"a replica without clients":               idle + ", of which " + measured("of it the program file")[0] + " are",
		"a session with an open stream, of 3,500": stream,
		"a suspended call":                        measured("memory of the server for each suspended call, HTTP")[0] + ",",
		"a request without a script": strings.Fields(processor[0])[0] + " to " + processor[len(processor)-1] +
			" of a processor",
	} {
		if !strings.Contains(deploy, "| "+cost+" | "+want+" ") {
			t.Errorf("DEPLOY.md: %s costs %s", cost, want)
		}
	}
	all := number(idle) + 10*number(stream)
	for _, want := range []string{
		fmt.Sprintf("take %s + 10,000 × %s = %.0f MB.", idle, stream, all),
		fmt.Sprintf("100 replicas with %.1f GB", all/10),
	} {
		if !strings.Contains(deploy, want) {
			t.Errorf("DEPLOY.md: %s", want)
		}
	}
}

// number returns the number before a unit.
func number(value string) float64 {
	digits, _, _ := strings.Cut(value, " ")
	n, _ := strconv.ParseFloat(digits, 64)
	return n
}

func textOf(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(checkout.Root(), "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
