package suite

import (
	"cmp"
	"context"
	"encoding/xml"
	"os"
	"path/filepath"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/userfile"
)

// junit is the report as an XML file with the elements of JUnit, which CI systems show.
type junit struct {
	XMLName  xml.Name `xml:"testsuites"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Suites   []*junitSuite

	file  string
	write func(error) // receives the result of writing
}

type junitSuite struct {
	XMLName  xml.Name `xml:"testsuite"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Cases    []junitCase
}

type junitCase struct {
	XMLName xml.Name      `xml:"testcase"`
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr"`
	Line    int           `xml:"line,attr,omitempty"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure"`
	Skipped *junitSkipped `xml:"skipped"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func (p *junit) add(r *result) {
	if n := len(p.Suites); n == 0 || p.Suites[n-1].Name != r.file {
		p.Suites = append(p.Suites, &junitSuite{Name: r.file})
	}
	suite := p.Suites[len(p.Suites)-1]
	c := junitCase{Name: cmp.Or(r.Name, r.Tool), Class: r.Tool, File: r.file, Line: r.Line, Time: string(seconds(r.took))}
	p.Tests++
	suite.Tests++
	if r.skipped != "" {
		c.Skipped = &junitSkipped{r.skipped}
	}
	if r.failed() {
		p.Failures++
		suite.Failures++
		c.Failure = &junitFailure{r.differences[0].What, string(r.details(""))}
	}
	suite.Cases = append(suite.Cases, c)
}

// end writes the file.
func (p *junit) end(*totals) {
	text, err := xml.MarshalIndent(p, "", "  ")
	if err == nil {
		err = replace(p.file, append([]byte(xml.Header), append(text, '\n')...))
	}
	p.write(err)
}

// replace writes a file, or replaces it.
func replace(file string, text []byte) error {
	dir, err := os.OpenRoot(filepath.Dir(file))
	if err == nil {
		defer dir.Close()
		o := userfile.Options{Max: 1 << 30, Mode: 0o644, Wait: lockWait}
		_, err = userfile.Edit(context.Background(), dir, filepath.Base(file), o, func(userfile.File) ([]byte, error) {
			return text, nil
		})
	}
	if err != nil {
		return &cli.Error{Code: cli.CodeInvalid, Op: "write", Subject: file, Cause: err}
	}
	return nil
}
