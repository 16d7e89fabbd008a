package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// gradedWords is the number of words from which the grade of a page is meaningful.
const gradedWords = 100

// check runs Vale over texts and returns its alerts, sorted by position.
func check(texts []text) ([]alert, error) {
	dir, err := os.MkdirTemp("", "prose-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	byName := map[string]text{}
	for _, t := range texts {
		name := filepath.Join(dir, filepath.FromSlash(t.name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return nil, err
		}
		if err := os.WriteFile(name, t.copy(), 0o666); err != nil {
			return nil, err
		}
		byName[name] = t
	}
	found, err := runVale(dir)
	if err != nil {
		return nil, err
	}
	var alerts []alert
	for name, inFile := range found {
		t, ok := byName[name]
		if !ok {
			return nil, fmt.Errorf("vale: an alert for the unknown file %s", name)
		}
		for _, v := range inFile {
			rule := strings.TrimPrefix(v.Check, "Plain.")
			if rule == "Readability" && len(strings.Fields(t.page)) < gradedWords {
				continue
			}
			alerts = append(alerts, alert{t.position(v.Line, v.Span[0]), rule, v.Message})
		}
	}
	slices.SortFunc(alerts, func(a, b alert) int {
		return cmp.Or(strings.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column),
			strings.Compare(a.rule, b.rule))
	})
	return slices.Compact(alerts), nil
}

// markup are characters that mean something in Markdown but not in a paragraph of a program.
const markup = "<>*[]#|&~\\_"

// copy returns the content of the file that Vale reads.
func (t text) copy() []byte {
	if t.page != "" {
		return []byte(t.page)
	}
	var b bytes.Buffer
	for _, p := range t.paragraphs {
		for _, r := range p.characters {
			if strings.ContainsRune(markup, r) {
				r = ' '
			}
			b.WriteRune(r)
		}
		b.WriteString("\n\n")
	}
	return b.Bytes()
}

// position returns the place in the repository of a character in Vale's copy.
func (t text) position(line, character int) position {
	if t.page != "" {
		lines := strings.Split(t.page, "\n")
		at := []rune(lines[min(max(line, 1), len(lines))-1])
		return position{t.file, line, len(string(at[:min(max(character, 1)-1, len(at))])) + 1}
	}
	p := t.paragraphs[min((line-1)/2, len(t.paragraphs)-1)]
	return p.from[min(max(character, 1), len(p.from))-1]
}

// A valeAlert is an alert in Vale's output. Span holds the first and the last character.
type valeAlert struct {
	Check   string
	Line    int
	Span    [2]int
	Message string
}

// runVale returns Vale's alerts for the files in a folder.
func runVale(dir string) (map[string][]valeAlert, error) {
	config, err := filepath.Abs(".vale.ini")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "tool", "vale", "--no-global", "--config="+config, "--output=JSON", dir)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1") // for Vale's parsers
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, fmt.Errorf("vale: %w", err)
	}
	var found map[string][]valeAlert
	if jsonErr := json.Unmarshal(stdout.Bytes(), &found); jsonErr != nil {
		return nil, fmt.Errorf("vale: %w\n%s%s", cmp.Or(err, jsonErr), stdout.Bytes(), stderr.Bytes())
	}
	return found, nil
}
