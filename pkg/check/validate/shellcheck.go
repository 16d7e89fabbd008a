package validate

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/run/script"
)

const (
	shellcheckTime   = 20 * time.Second // for all scripts of a section
	shellcheckBatch  = 16               // scripts for one process
	shellcheckOutput = 16 << 20
	unusedVariable   = "2034"
)

// shellcheck runs shellcheck if it is installed and enabled. The verdict about a project must not
// depend on it, so its findings are warnings.
func (c *check) shellcheck(list []shellScript) {
	program := script.LookPath("shellcheck", c.p.Env["PATH"])
	if !c.o.ShellCheck || program == "" || len(list) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, shellcheckTime)
	defer cancel()
	batches := (len(list) + shellcheckBatch - 1) / shellcheckBatch
	outputs := make([]json.RawMessage, batches)
	parallel(batches, func(i int) {
		// All are Bash scripts, also those that are sourced and have no first line. script.crlf reports SC1017.
		argv := []string{program, "--format=json1", "--severity=warning", "--shell=bash", "--exclude=SC1017", "--"}
		for _, s := range list[i*shellcheckBatch : min(len(list), (i+1)*shellcheckBatch)] {
			argv = append(argv, s.file)
		}
		res := c.o.Runner.Run(ctx, script.Spec{
			Argv: argv, Dir: c.p.Root, Env: c.p.Env.Entries(), StdoutLimit: shellcheckOutput, StderrLimit: syntaxOutput,
		})
		if doc, err := rawjson.Check(res.Stdout); err == nil && res.Cause == nil {
			outputs[i] = doc
		}
	})
	scripts := make(map[string]*shellScript, len(list))
	for i := range list {
		scripts[list[i].file] = &list[i]
	}
	silent := 0
	for _, doc := range outputs {
		if doc == nil {
			silent++
		}
		for remark := range rawjson.Elements(rawjson.Get(doc, "comments")) {
			c.remark(remark, scripts)
		}
	}
	if silent > 0 && c.ctx.Err() == nil {
		c.at("shellcheck.incomplete", "",
			fmt.Sprintf("shellcheck did not look at all %d scripts of %s", len(list), c.section))
	}
}

func (c *check) remark(remark json.RawMessage, scripts map[string]*shellScript) {
	s := scripts[rawjson.TextOf(remark, "file")]
	code := string(rawjson.Get(remark, "code"))
	switch {
	case s == nil || rawjson.PositiveInt(rawjson.Get(remark, "code")) == 0:
		return
	case s.as == serverScript && code == unusedVariable: // the server reads the variables of a file that it sources
		return
	}
	c.add(finding.Finding{
		ID: "shellcheck", Path: s.label, Line: rawjson.PositiveInt(rawjson.Get(remark, "line")),
		Message: fmt.Sprintf("%s (SC%s)", rawjson.TextOf(remark, "message"), code),
		Fix:     fmt.Sprintf("see https://www.shellcheck.net/wiki/SC%s", code),
	})
}
