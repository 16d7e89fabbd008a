package house

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// A package does no work when it is initialised: each start of a command would pay for it.
// The test counts allocations, because times depend on what else the machine does. The limit
// is what tables of the project's packages need; one compiled expression takes 20 and more.
func TestInitialisation(t *testing.T) {
	const limit = 200
	bin := t.TempDir()
	if err := checkout.Build(bin, checkout.Commands); err != nil {
		t.Fatal(err)
	}
	traced := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) allocs$`)
	commands, err := os.ReadDir(bin)
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range commands {
		run := exec.Command(filepath.Join(bin, command.Name()), "--version")
		run.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		var stderr bytes.Buffer
		run.Stderr = &stderr
		if err := run.Run(); err != nil {
			t.Fatal(command.Name(), err)
		}
		packages := traced.FindAllStringSubmatch(stderr.String(), -1)
		if packages == nil {
			t.Fatalf("%s: no trace:\n%s", command.Name(), &stderr)
		}
		sum, most, at := 0, 0, ""
		for _, p := range packages {
			allocations, _ := strconv.Atoi(p[2])
			if strings.HasPrefix(p[1], module) {
				sum += allocations
				if allocations > most {
					most, at = allocations, p[1]
				}
			}
		}
		if sum > limit {
			t.Errorf("%s: the project's packages allocate %d times at their initialisation, %s %d times; limit: %d",
				command.Name(), sum, at, most, limit)
		}
	}
}
