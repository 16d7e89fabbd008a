//go:build linux

package endurance

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"mcp-bash/test/checkout"
)

var (
	duration = flag.Duration("for", 6*time.Second, "how long to go on")
	seed     = flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the choices made")
)

// rounds is how many servers share the time, each from its start to its end;
// longest is how long one lives at most.
const (
	rounds  = 6
	longest = 3 * time.Minute
)

func TestEndurance(t *testing.T) {
	bin := t.TempDir()
	if err := checkout.BuildLikeTests(bin, "mcp-bash/cmd/mcp-bash"); err != nil {
		t.Fatal(err)
	}
	t.Logf("seed %d", *seed)
	random := rand.New(rand.NewPCG(*seed, 0))
	h := &house{t: t, binary: bin + "/mcp-bash", tmp: t.TempDir(), cache: t.TempDir(),
		tag: fmt.Sprintf("endurance-%d-%d", os.Getpid(), *seed)}
	h.stage(t)
	servers := 0
	for end := time.Now().Add(*duration); time.Now().Before(end) && !t.Failed(); servers++ {
		h.round(random, min(*duration/rounds, longest))
	}
	h.clearUp()
	t.Logf("%d servers, %d requests, %d answers, %d faults", servers, h.sent.Load(), h.answered.Load(),
		h.injected.Load())
	if h.answered.Load() == 0 || h.injected.Load() == 0 {
		t.Error("nothing happened")
	}
}
