package cli

import (
	"errors"
	"flag"
	"io"
	"slices"
	"strings"

	"github.com/peterbourgon/ff/v3"
)

// ErrHelp asks for the help text: --help or -h was given.
var ErrHelp = errors.New("help requested")

// Options is the set of options of a verb. Unlike the flag package's, they may
// stand among the operands (C-6).
type Options struct {
	*flag.FlagSet
	missing map[string]string
}

// NewOptions returns an empty set.
func NewOptions(verb string) *Options {
	set := flag.NewFlagSet(verb, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	return &Options{FlagSet: set, missing: map[string]string{}}
}

// Strings adds an option that may be repeated.
func (o *Options) Strings(name string) *[]string {
	list := new([]string)
	o.Func(name, "", func(v string) error {
		*list = append(*list, v)
		return nil
	})
	return list
}

// Missing gives the text for an option that stands without its value, where
// it is not the usual one (C-5).
func (o *Options) Missing(name, text string) { o.missing[name] = text }

// Read takes the options out of args and returns the operands. The error is
// [ErrHelp], whatever else is wrong, or an error of use. "--" ends the options; what follows is an
// operand whatever it looks like.
func (o *Options) Read(args []string) (operands []string, err error) {
	before, _ := beforeOperands(args)
	if slices.Contains(before, "--help") || slices.Contains(before, "-h") {
		return nil, ErrHelp
	}
	var given []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			operands = append(operands, args[i+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			operands = append(operands, arg)
			continue
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		f := o.Lookup(name)
		if f == nil || !strings.HasPrefix(arg, "--") {
			return nil, Usagef("unknown option: %s", arg)
		}
		given = append(given, arg)
		if hasValue || isSwitch(f) {
			continue
		}
		if i++; i == len(args) {
			if text, ok := o.missing[name]; ok {
				return nil, Usagef("%s", text)
			}
			return nil, Usagef("--%s requires a value", name)
		}
		given = append(given, args[i])
	}
	if err := ff.Parse(o.FlagSet, given); err != nil {
		return nil, Usagef("%s", err)
	}
	return operands, nil
}

func isSwitch(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}
