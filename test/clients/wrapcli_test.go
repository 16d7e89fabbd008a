//go:build unix

package clients

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

// examples/06-wrap-cli, audit: progress from the lines a program prints
// (SDK-113).
func TestProgramWithProgress(t *testing.T) { inBothProtocols(t, testProgramWithProgress) }

func testProgramWithProgress(t *testing.T, protocol string) {
	t.Parallel()
	project := checkout.Example(t, "06-wrap-cli")
	s := open(t, project, opening{revision: protocol})
	type sum struct{ Items, Pieces int }
	if got := structured[sum](t, s.succeed("audit", nil)); got != (sum{4, 1467}) {
		t.Errorf("%+v", got)
	}
	if got := s.reports(); !slices.Equal(got, []string{"25", "50", "75", "100"}) {
		t.Errorf("%q", got)
	}
	if m := <-s.progress; m.Message != "[1/4] bolts" {
		t.Errorf("%+v", m)
	}
	write(t, "", project, "data", "stock.lock")
	if got := s.refuse("audit", nil, "depot_failed"); got != "depot: the stock is locked by another process" {
		t.Errorf("%q", got)
	}
}

// examples/06-wrap-cli, stock: a program's own error (SDK-89), and another
// try while it is busy (SDK-120, SDK-122).
func TestProgramThatFails(t *testing.T) {
	t.Parallel()
	project := checkout.Example(t, "06-wrap-cli")
	s := open(t, project, opening{})
	s.setLevel("debug")
	type stock struct {
		Item   string
		Pieces int
	}
	if got := structured[stock](t, s.succeed("stock", arguments{"item": "nuts"})); got != (stock{"nuts", 340}) {
		t.Errorf("%+v", got)
	}
	if got := s.refuse("stock", arguments{"item": "screws"}, "depot_failed"); got != "no such item in stock" {
		t.Errorf("%q", got)
	}
	if got := s.logged("retry"); len(got) != 0 {
		t.Errorf("%q", got)
	}

	lock := write(t, "", project, "data", "stock.lock")
	result := make(chan *mcp.CallToolResult, 1)
	go func() {
		r, err := s.request(s.deadline(), "stock", arguments{"item": "bolts"})
		if err != nil {
			t.Error(err)
		}
		result <- r
	}()
	if m := s.nextLog("retry"); m.Level != "debug" || !strings.HasPrefix(m.Data.(string),
		"Attempt 1/5 failed (exit 75), retrying in 0.") {
		t.Errorf("%+v", m)
	}
	os.Remove(lock)
	if got := structured[stock](t, <-result); got != (stock{"bolts", 120}) {
		t.Errorf("%+v", got)
	}
}
