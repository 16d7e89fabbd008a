package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/check/audit"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/seal"
	"mcp-bash/pkg/events/trail"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
)

type auditOptions struct {
	audit.Selection
	outcome, head, key    string
	summary, verify, json bool
	follow, html          bool
}

func auditCommand() *cli.Command {
	o := &auditOptions{}
	c := &cli.Command{
		Name:    "audit",
		Summary: "Show who called what, from the records of servers, and check that nobody changed them.",
		Examples: []cli.Example{
			{Line: "NAME /var/log/mcp-bash", Purpose: "all requests"},
			{Line: "NAME --summary --since 24h /var/log/mcp-bash", Purpose: "how many, and how long they took"},
			{Line: "NAME --outcome denied --caller ada /var/log/mcp-bash", Purpose: "refused requests of ada"},
			{Line: "NAME --html /var/log/mcp-bash >calls.html", Purpose: "a page with a timeline"},
			{Line: "NAME --verify audit.jsonl", Purpose: "is it as the server wrote it?"},
			{Line: "NAME keygen audit.key >verification.key", Purpose: "make a key for MCPBASH_AUDIT_KEY"},
			{Line: "NAME audit.jsonl | jq -r .target.name", Purpose: "JSON lines for a pipe"},
			{Line: "kubectl logs --prefix --tail=-1 -l app=tools | NAME -", Purpose: "all replicas"},
		},
		Operands: []cli.Operand{{Name: "[FILE...]", Complete: cli.Files}},
		Text: `FILE is a file or a folder of records, or - for standard input. Without FILE it is MCPBASH_AUDIT. A server
writes a record if that variable is set. Standard input may be a log: other lines are left out, and so is the text before
an event.`,
		Exits:    []cli.Exit{{Code: 0, Meaning: "done"}, {Code: 1, Meaning: "a record cannot be read, or was changed"}},
		Commands: []*cli.Command{keygenCommand()},
	}
	f := &c.Flags
	c.Run = func(s cli.Streams, operands []string) error { return o.run(s, operands, f) }
	f.String(&o.Tool, "tool", "NAME", "only this tool, prompt or URI; * stands for any text")
	f.String(&o.Caller, "caller", "NAME", "only this user or client; * stands for any text")
	f.One(&o.outcome, "outcome", "OUTCOME", []string{"success", "denied", "failure", "error", "application_error"},
		"only requests that ended so")
	f.Func("since", "TIME", "only later lines: 2026-11-28, 2026-11-28T09:00, 2026-11-28T09:00:00Z, or 90m, 24h or 7d "+
		"before now", o.since)
	f.Bool(&o.All, "all", "also lines that are not about a request, such as seals")
	f.Bool(&o.follow, "follow", "also print lines that are written from now on, until a signal")
	f.Bool(&o.summary, "summary", "count the requests of each tool and caller")
	f.Bool(&o.html, "html", "print a page for a browser: a timeline, a summary, and the most interesting requests")
	f.Bool(&o.verify, "verify", "check the chain of hashes, and print the first line that is wrong")
	f.Func("head", "HASH", "with --verify: a hash of --verify that was kept elsewhere; a line must have it", o.hash)
	f.String(&o.key, "key", "FILE", "with --verify: the key that keygen printed, or - for standard input; the records "+
		"must be all of one server").Completes(cli.Files)
	f.JSON(&o.json)
	return c
}

// hash parses the hash of the option --head.
func (o *auditOptions) hash(text string) *cli.Error {
	o.head = strings.ToLower(strings.TrimSpace(text))
	if b, err := hex.DecodeString(o.head); err != nil || len(b) != len(events.Hash{}) {
		return cli.Usagef("--head must be a hash that --verify printed, with 64 digits and letters: %s", cli.Line(text))
	}
	return nil
}

// since parses the time of the option: a duration before now, or a time in one of the forms that audit prints.
func (o *auditOptions) since(text string) *cli.Error {
	ago, ok := cli.Span(text)
	if !ok {
		var err error
		ago, err = time.ParseDuration(text)
		ok = err == nil && ago >= 0
	}
	if ok {
		o.Since = time.Now().Add(-ago)
		return nil
	}
	for _, form := range []string{
		time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly,
	} {
		if t, err := time.ParseInLocation(form, strings.Replace(text, " ", "T", 1), time.Local); err == nil {
			o.Since = t
			return nil
		}
	}
	return cli.Usagef("--since must be a time such as 2026-11-28, 2026-11-28T09:00, 90m or 7d: %s", cli.Line(text))
}

func (o *auditOptions) run(s cli.Streams, operands []string, f *cli.Flags) error {
	empty, chosen := f.Empty(), f.Any("verify", "head", "key", "json")
	switch {
	case empty != "": // a variable that is not set would select everything, or check nothing
		return cli.Usagef("the value of --%s is empty", empty)
	case (o.head != "" || o.key != "") && !o.verify:
		return cli.Usagef("--head and --key need --verify")
	case o.key == "-" && slices.Contains(operands, "-"):
		return cli.Usagef("--key and a record cannot both be standard input")
	case o.follow && (o.verify || o.summary || o.html):
		return cli.Usagef("--follow prints lines, so it cannot be used with --verify, --summary or --html")
	case o.verify && (o.summary || o.html) || o.summary && o.html:
		return cli.Usagef("--verify, --summary and --html exclude each other")
	case o.verify && chosen != "":
		return cli.Usagef("--verify checks all lines of a record, so remove --%s", chosen)
	}
	o.Outcome = events.Outcome(o.outcome)
	if len(operands) == 0 {
		to := os.Getenv("MCPBASH_AUDIT")
		if !events.InFiles(to) {
			return cli.Usagef("name a file or a folder, since MCPBASH_AUDIT names none")
		}
		operands = []string{to}
	}
	var records []audit.Record
	for _, operand := range operands {
		found, err := audit.Find(operand)
		if err != nil && !(o.follow && errors.Is(err, audit.ErrNone)) { // a server can start in the folder
			return unreadable(operand, err)
		}
		records = append(records, found...)
	}
	records = audit.Distinct(records)
	switch {
	case o.head != "" && len(records) > 1:
		return cli.Usagef("--head is the hash of one record, and there are %d: name the file", len(records))
	case o.verify:
		return o.check(s, records)
	case o.follow:
		return o.watch(s, operands, records)
	}
	return o.show(s, records)
}

func unreadable(name string, err error) error {
	remedy := ""
	switch {
	case errors.Is(err, audit.ErrCompressed):
		remedy = "; decompress it to standard input, as in zcat FILE | mcp-bash audit -"
	case errors.Is(err, boundedfile.ErrNotRegular):
		remedy = "; use standard input, as in COMMAND | mcp-bash audit -"
	}
	return cli.Failf(cli.CodeNotFound, "%s: %v%s", cli.Line(name), fsys.Cause(err), remedy)
}

// show prints the chosen lines, or their summary.
func (o *auditOptions) show(s cli.Streams, records []audit.Record) error {
	var sum audit.Summary
	var page audit.Page
	table := cli.Table{audit.Columns()}
	people := cli.IsTerminal(s.Out) && !o.json
	broken, other := 0, 0
	var unwritten error
	err := audit.ReadAll(records, s.In, func(e *trail.Entry) error {
		switch {
		case e.Broken == trail.ErrOther:
			other++
		case e.Broken != nil:
			broken++
		case !o.Has(e):
		case o.html:
			page.Add(e)
		case o.summary:
			sum.Add(e)
		case people:
			table = append(table, audit.Row(e))
		default:
			_, unwritten = fmt.Fprintf(s.Out, "%s\n", e.Raw)
		}
		return unwritten
	})
	switch {
	case unwritten != nil:
		return unwritten
	case err != nil:
		return unreadable("a record", err)
	}
	switch {
	case o.html:
		if err := page.Write(s.Out); err != nil {
			return err
		}
	case o.summary && people:
		sum.Table().Print(s.Out)
	case o.summary:
		s.Out.Write(sum.AppendJSON(nil))
	case people:
		table.Print(s.Out)
	}
	if other > 0 {
		cli.Printf(s.Err, "audit: other lines of the log: %d\n", other)
	}
	if broken > 0 {
		return cli.Failf(cli.CodeInvalid, "some lines are no events (%d); run mcp-bash audit --verify", broken)
	}
	return nil
}

// watch prints the chosen lines of records as they are written, until a signal. A server that starts later begins
// another record in its folder.
func (o *auditOptions) watch(s cli.Streams, operands []string, records []audit.Record) error {
	ctx, stop := cli.UntilSignal()
	defer stop()
	var running sync.WaitGroup
	var mu sync.Mutex // of out and errs
	var errs []error
	follow := func(r audit.Record) {
		var next int64 // number of the next line
		err := r.Follow(ctx, s.In, func(e *trail.Entry) error {
			switch gone := e.Link.Seq - next; {
			case r.Name == "-":
			case e.Broken != nil:
				cli.Printf(s.Err, "audit: %s: a line is not an event; run mcp-bash audit --verify\n", cli.Line(r.Name))
				next++
			default:
				if next > 0 && gone > 0 {
					cli.Printf(s.Err, "audit: %s: missing lines: %d; their file was removed before it was read\n",
						cli.Line(r.Name), gone)
				}
				next = e.Link.Seq + 1
			}
			if !o.Has(e) {
				return nil
			}
			line := string(e.Raw)
			if cli.IsTerminal(s.Out) && !o.json {
				line = cli.Cut(audit.Aligned(audit.Row(e)), cli.Width(s.Out, 80))
			}
			mu.Lock()
			defer mu.Unlock()
			_, err := cli.Printf(s.Out, "%s\n", line)
			return err
		})
		stop()
		mu.Lock()
		defer mu.Unlock()
		errs = append(errs, err)
	}
	if cli.IsTerminal(s.Out) && !o.json {
		cli.Printf(s.Out, "%s\n", cli.Cut(audit.Aligned(audit.Columns()), cli.Width(s.Out, 80)))
	}
	for _, r := range records {
		running.Go(func() { follow(r) })
	}
	audit.Begun(ctx, operands, records, func(r audit.Record) { running.Go(func() { follow(r) }) })
	running.Wait()
	return errors.Join(errs...)
}

// check verifies each record and prints its verdict.
func (o *auditOptions) check(s cli.Streams, records []audit.Record) error {
	wrong := false
	people := cli.IsTerminal(s.Out) && !o.json
	seals, sealed, err := o.seals(s)
	if err != nil {
		return err
	}
	for i := range records {
		v, err := records[i].Verify(s.In, o.head, seals)
		if err != nil {
			return unreadable(records[i].Name, err)
		}
		if seals != nil && v.Fault == nil && i == len(records)-1 {
			v.File, v.Fault = records[i].Name, seals.End(time.Now(), sealed)
		}
		wrong = wrong || v.Fault != nil
		if people {
			printVerdict(s, &records[i], &v)
			if seals != nil && v.Fault == nil {
				cli.Explain(s.Out, "    sealed until %s, from seal number %d; %d lines after it\n",
					seals.Until.Local().Format(time.DateTime), seals.First, seals.Open)
			}
			continue
		}
		var b rawjson.Builder
		b.Object().Name("record").String(records[i].Name).Name("ok").Bool(v.Fault == nil).Name("lines").Int(v.Lines).
			Name("first").Int(int(v.First)).Name("head").String(v.Head.String())
		if seals != nil && !seals.Until.IsZero() {
			b.Name("sealed").String(seals.Until.Format(time.RFC3339)).Name("firstSeal").Int(seals.First).
				Name("stopped").Bool(seals.Stopped).Name("unsealed").Int(seals.Open)
		}
		if v.Fault != nil {
			b.Name("kind").String(string(v.Fault.Kind)).Name("file").String(v.File).Name("line").Int(v.Fault.Line).
				Name("reason").String(v.Fault.Text)
		}
		fmt.Fprintf(s.Out, "%s\n", b.End().Bytes())
	}
	if wrong {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

func printVerdict(s cli.Streams, r *audit.Record, v *audit.Verdict) {
	if v.Fault == nil {
		cli.Explain(s.Out, "  ✓ %s: %d lines as the server wrote them; the last one has the hash %s\n",
			cli.Line(r.Name), v.Lines, v.Head)
		if v.First > 0 {
			cli.Explain(s.Out, "    %d lines before them are gone; a server removes its oldest files\n", v.First)
		}
		return
	}
	place := cli.Line(v.File)
	if v.Fault.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, v.Fault.Line)
	}
	cli.Explain(s.Out, "  ✗ %s: %s\n", place, v.Fault.Text)
}

// seals returns the verification with --key, or nil without it. epoch is the epoch of the key in the server's file, if
// MCPBASH_AUDIT_KEY names that file.
func (o *auditOptions) seals(s cli.Streams) (seals *trail.Seals, epoch int, err error) {
	if o.key == "" {
		return nil, 0, nil
	}
	var text []byte
	if o.key == "-" {
		text, err = boundedfile.ReadStream(context.Background(), s.In, 1024)
	} else {
		text, err = boundedfile.Read(o.key, 1024)
	}
	seals = &trail.Seals{}
	if err == nil {
		seals.Key, err = seal.Parse(text)
	}
	if file := os.Getenv("MCPBASH_AUDIT_KEY"); err == nil && file != "" {
		var current seal.Key
		current, err = seal.Read(file)
		epoch = current.Epoch
	}
	if err != nil {
		return nil, 0, cli.Failf(cli.CodeInvalid, "--key: %v", err)
	}
	return seals, epoch, nil
}

func keygenCommand() *cli.Command {
	return &cli.Command{
		Name:     "keygen",
		Summary:  "Make a key with which one server seals its record, and print the key that checks the seals.",
		Examples: []cli.Example{{Line: "NAME audit.key >verification.key"}},
		Operands: []cli.Operand{{Name: "FILE", Complete: cli.Files}},
		Text: `FILE gets the key of the server, and MCPBASH_AUDIT_KEY names it there. Keep the printed key on another
machine: --verify --key needs it, and nothing can print it again.`,
		Exits: []cli.Exit{{Code: 0, Meaning: "done"}, {Code: 1, Meaning: "FILE exists, or cannot be written"}},
		Run: func(s cli.Streams, operands []string) error {
			if operands[0] == "-" {
				return cli.Usagef("FILE must be a file: standard output gets the key that checks the seals")
			}
			key, err := seal.Create(operands[0])
			if err != nil {
				return unreadable(operands[0], err)
			}
			cli.Explain(s.Err, "mcp-bash audit: start the server with MCPBASH_AUDIT_KEY=%s. Keep the printed key on another "+
				"machine: --verify --key needs it, and nothing can print it again\n", cli.Line(operands[0]))
			if _, err = cli.Printf(s.Out, "%s\n", strings.TrimSuffix(key.Text(), "\n")); err != nil {
				os.Remove(operands[0]) // without the printed key, nobody could verify its seals
			}
			return err
		},
	}
}
