// Mcp-otel sends the audit records of mcp-bash to a collector of OpenTelemetry.
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"mcp-bash/otel/internal/deliver"
	"mcp-bash/otel/internal/source"
	"mcp-bash/otel/internal/state"
	"mcp-bash/otel/internal/telemetry"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/events"
)

const name = "mcp-otel"

func main() {
	os.Exit(cli.Run(name, func(s cli.Streams, args []string) int { return command().Main(s, name, args) }))
}

type options struct {
	state string
	once  bool
	fresh bool
}

func command() *cli.Command {
	o := &options{}
	c := &cli.Command{
		Name: name, NotVerb: true,
		Summary: "Send the audit records of mcp-bash servers to a collector of OpenTelemetry: as traces, metrics and logs.",
		Examples: []cli.Example{
			{Line: "NAME /var/log/mcp-bash", Purpose: "follow all records of a folder"},
			{Line: "OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318 NAME audit.jsonl", Purpose: "to another machine"},
			{Line: "NAME --once audit.jsonl", Purpose: "send what is there, then end"},
			{Line: "MCPBASH_AUDIT=stderr mcp-bash serve 2> >(NAME -)", Purpose: "without a file"},
			{Line: "OTEL_LOGS_EXPORTER=none OTEL_METRICS_EXPORTER=none NAME audit.jsonl", Purpose: "traces only"},
		},
		Operands: []cli.Operand{{Name: "[FILE]", Complete: cli.Files}},
		Text: "FILE is a file or a folder of records, or - for standard input. Without FILE it is MCPBASH_AUDIT. " +
			"Lines of standard input that are not of a record are printed on standard error.\n\n" +
			"If the collector is away, mcp-otel waits and goes on from the file later. A pipe has no later: at most 10,000 " +
			"lines wait, and it says how many others were dropped.\n\n" +
			"OpenTelemetry's variables configure the rest: OTEL_EXPORTER_OTLP_ENDPOINT (http://localhost:4318), " +
			"OTEL_EXPORTER_OTLP_HEADERS, _TIMEOUT, _COMPRESSION, _CERTIFICATE, _CLIENT_CERTIFICATE and _CLIENT_KEY, each " +
			"also for one signal (OTEL_EXPORTER_OTLP_TRACES_ENDPOINT); OTEL_TRACES_EXPORTER, OTEL_METRICS_EXPORTER and " +
			"OTEL_LOGS_EXPORTER (otlp, none); OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_METRIC_EXPORT_INTERVAL " +
			"and OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE. The protocol is http/protobuf.",
		Exits: []cli.Exit{{Code: cli.ExitOK, Meaning: "done, or ended by a signal without a loss"},
			{Code: cli.ExitFailed, Meaning: "a record cannot be read, or lines could not be sent"}},
		Run: func(s cli.Streams, operands []string) error { return o.run(s, operands) },
	}
	c.Flags.Bool(&o.once, "once", "send the lines that are there, and end")
	c.Flags.Bool(&o.fresh, "new", "begin with lines that are written from now on, unless an earlier position is saved")
	c.Flags.String(&o.state, "state", "FILE",
		"file with the position in the records; else FILE.mcp-otel.json, or mcp-otel.json in a folder").Completes(cli.Files)
	return c
}

func (o *options) run(s cli.Streams, operands []string) error {
	from := os.Getenv("MCPBASH_AUDIT")
	if len(operands) > 0 {
		from = operands[0]
	}
	switch {
	case from == "" || len(operands) == 0 && !events.InFiles(from):
		return cli.Usagef("name a file or a folder, or - for standard input, since MCPBASH_AUDIT names none")
	case from == "-" && (o.state != "" || o.fresh):
		return cli.Usagef("--state and --new are for files, not for standard input")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	x := &exporter{
		options: o, histograms: telemetry.NewHistograms(),
		report: func(format string, args ...any) { cli.Printf(s.Err, name+": "+format+"\n", args...) },
	}
	var err error
	if x.collector, err = deliver.Open(x.report); err != nil {
		return err
	}
	if x.every, err = deliver.MetricsEvery(); err != nil {
		return err
	}
	if x.resources, err = telemetry.NewResources(); err != nil {
		return (&cli.Error{Code: cli.CodeInvalid, Subject: "OTEL_RESOURCE_ATTRIBUTES", Cause: err}).
			WithHint("write it as name=value,name=value")
	}
	if from == "-" {
		return x.runPipe(ctx, s)
	}
	return x.runFiles(ctx, from)
}

// grace is how long the lines of a pipe that ended wait for the collector.
const grace = 10 * time.Second

func (x *exporter) runPipe(ctx context.Context, s cli.Streams) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	x.pipe = source.NewPipe(s.In, s.Err, x.options.once, x.report)
	context.AfterFunc(ctx, x.pipe.Close)
	go func() {
		<-x.pipe.Ended
		if x.options.once {
			cancel()
		} else {
			time.AfterFunc(grace, cancel)
		}
	}()
	return x.run(ctx)
}

func (x *exporter) runFiles(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return (&cli.Error{Code: cli.CodeNotFound, Op: "read", Subject: path, Cause: err}).
			WithHint("start the server with MCPBASH_AUDIT=%s, or name its record", path)
	}
	stateFile := x.options.state
	switch {
	case stateFile != "":
	case info.IsDir():
		stateFile = filepath.Join(path, name+".json")
	default:
		stateFile = path + "." + name + ".json"
	}
	failed := func(err error) *cli.Error {
		return &cli.Error{Code: cli.CodeInvalid, Op: "open the state file", Subject: stateFile, Cause: err}
	}
	if x.file, err = state.Open(stateFile); err != nil {
		return failed(err).WithHint("name another file with --state")
	}
	defer x.file.Close()
	before, err := x.file.Load()
	if err != nil {
		return failed(err).WithHint("remove it; then all lines are sent again")
	}
	x.state, x.histograms = before, before.Histograms
	if x.files, err = source.NewFiles(path, before.Records, x.options.fresh, x.report); err != nil {
		return &cli.Error{Code: cli.CodeInternal, Op: "read", Subject: path, Cause: err}
	}
	if err := x.save(); err != nil { // with the position of --new
		return err
	}
	return x.run(ctx)
}
