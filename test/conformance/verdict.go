package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// excluded are the scenarios that may fail, with the reason. One that passes must
// be taken off.
var excluded = map[string]string{
	"tasks-status-notifications": "the suite skips its only check, which is not written yet",
}

// scenarios reads the suite's list of a requirement set: those for servers, also
// the ones it runs without scoring them.
func scenarios(list string) []string {
	var names []string
	var section string
	for line := range strings.Lines(list) {
		name, isItem := strings.CutPrefix(strings.TrimSpace(line), "- ")
		switch {
		case isItem && strings.HasPrefix(section, "Server scenarios"):
			names = append(names, name)
		case isItem && strings.HasPrefix(section, "Run and reported"):
			if name, ok := strings.CutSuffix(name, " [server]"); ok {
				names = append(names, name)
			}
		case !strings.HasPrefix(line, " "):
			section = line
		}
	}
	return names
}

// conclude prints the result of each scenario and the faults of the server, and returns an error unless
// all are as expected.
func conclude(out io.Writer, revision, results string, names, faults []string) error {
	if len(names) == 0 {
		return errors.New("the suite names no scenarios: is the name right? Has its list changed its form " +
			"(verdict.go)?")
	}
	var passes, failures int
	for _, name := range names {
		passed, why, err := outcome(results, name)
		reason, isExcluded := excluded[name]
		switch {
		case err != nil:
			return err
		case isExcluded && passed:
			fmt.Fprintf(out, "✗ %s\n    passes: take it off the list of excluded ones (verdict.go)\n", name)
			failures++
		case isExcluded:
			fmt.Fprintf(out, "- %s\n    excluded: %s\n", name, reason)
		case passed:
			fmt.Fprintf(out, "✓ %s\n", name)
			passes++
		default:
			fmt.Fprintf(out, "✗ %s\n%s", name, why)
			failures++
		}
	}
	for _, fault := range faults {
		fmt.Fprintf(out, "✗ session %s\n", fault)
	}
	fmt.Fprintf(out, "\n%s: of %d scenarios %d pass, %d fail, %d excluded\n", revision, len(names), passes, failures,
		len(names)-passes-failures)
	if failures+len(faults) > 0 {
		return fmt.Errorf("%d scenarios fail and %d other things are wrong; the output of the suite and every line of "+
			"every session is in %s", failures, len(faults), results)
	}
	return nil
}

// outcome reads what the suite found in a scenario. It passes when something was
// looked at, and nothing was wrong or a warning.
func outcome(results, scenario string) (passed bool, why string, err error) {
	files, err := filepath.Glob(filepath.Join(results, "server-"+scenario+"-[0-9]*", "checks.json"))
	if err != nil || len(files) == 0 {
		return false, "    the suite did not run it\n", err
	}
	var text strings.Builder
	var good int
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return false, "", err
		}
		var checks []struct{ ID, Status, ErrorMessage string }
		if err := json.Unmarshal(data, &checks); err != nil {
			return false, "", fmt.Errorf("%s: %w", file, err)
		}
		for _, c := range checks {
			switch c.Status {
			case "SUCCESS":
				good++
			case "FAILURE", "WARNING":
				fmt.Fprintf(&text, "    %s %s: %s\n", strings.ToLower(c.Status), c.ID,
					strings.ReplaceAll(c.ErrorMessage, "\n", "\n      "))
			}
		}
	}
	if good == 0 && text.Len() == 0 {
		text.WriteString("    the suite looked at nothing\n")
	}
	return text.Len() == 0, text.String(), nil
}
