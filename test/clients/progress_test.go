//go:build unix

package clients

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-bash/test/checkout"
)

// examples/02-progress, checksums: progress and logs come before the answer
// (T-707), with the client's token (T-102), filtered by level (T-103).
func TestProgressAndLogs(t *testing.T) { withAll(t, testProgressAndLogs) }

func testProgressAndLogs(t *testing.T, protocol string) {
	t.Parallel()
	s := open(t, checkout.Example(t, "02-progress"), opening{revision: protocol})
	s.setLevel("info")
	got := structured[struct {
		Files []struct {
			File       string
			Bytes, CRC int64
		}
		Total int
	}](t, s.succeed("checksums", nil))
	if got.Total != 3 || len(got.Files) != 3 || got.Files[1].File != "numbers.txt" || got.Files[1].Bytes != 14 ||
		got.Files[1].CRC != 3358846701 {
		t.Errorf("%+v", got)
	}

	// The server may report changes of lists at any time: the first scan of a project is a change (P-1901).
	all := slices.DeleteFunc(s.tap.messages(""), func(m message) bool {
		return strings.HasSuffix(m.Method, "/list_changed")
	})
	if last := all[len(all)-1]; last.Result == nil {
		t.Errorf("the last line is not the result: %+v", last)
	}
	if reports := s.reports(); !slices.Equal(reports, []string{"33", "66", "100"}) {
		t.Errorf("%q", reports)
	}
	for i, want := range []string{"empty.txt", "numbers.txt", "poems/two lines.txt"} {
		if m := <-s.progress; m.ProgressToken != "token of checksums" || m.Message != want || m.Total != 100 {
			t.Errorf("report %d: %+v", i, m)
		}
	}
	if logs := s.logged("checksums"); !slices.Equal(logs, []string{"info: 3 files to read",
		"warning: empty.txt is empty"}) {
		t.Errorf("%q", logs)
	}

	s.setLevel("error")
	s.succeed("checksums", nil)
	if logs := s.logged("checksums"); len(logs) != 2 {
		t.Errorf("after setLevel error: %q", logs)
	}
}

// examples/02-progress, countdown: it can be cancelled at any moment, and
// removes what it made (T-170; P-1602).
func TestCancellation(t *testing.T) { withAll(t, testCancellation) }

func testCancellation(t *testing.T, protocol string) {
	t.Parallel()
	s := open(t, checkout.Example(t, "02-progress"), opening{revision: protocol})
	s.setLevel("debug")
	// A script has a second to clean up, which is little on a machine that is busy with other things.
	for try := 1; !s.cancelledCountdown(); try++ {
		if try == 5 {
			t.Fatal("the scratch directory stays")
		}
	}
	// The server continues, and sends nothing more about the cancelled calls.
	before := len(s.tap.messages("notifications/progress"))
	if got := text(t, s.succeed("countdown", arguments{"from": 3, "pause": 0})); got != "3 2 1 lift-off!" {
		t.Errorf("%q", got)
	}
	if reports := s.reports()[before:]; !slices.Equal(reports, []string{"0", "33", "66", "100"}) {
		t.Errorf("%q", reports)
	}
	answers := 0
	for _, m := range s.tap.messages("") {
		if m.Result != nil || m.Error != nil {
			answers++
		}
	}
	want := 3 // initialize, setLevel, the second countdown
	if s.protocol == stateless {
		want = 2 // server/discover instead of the first two
	}
	if answers != want {
		t.Errorf("%d answers: a cancelled call has one too (T-708)", answers)
	}
}

// cancelledCountdown cancels a call and reports whether its script removed what it had made.
func (s *session) cancelledCountdown() bool {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.deadline())
	ended := make(chan error, 1)
	go func() {
		_, err := s.request(ctx, "countdown", arguments{"from": 100, "pause": 10})
		ended <- err
	}()
	scratch, _ := strings.CutPrefix(s.nextLog("countdown").Data.(string), "working in ")
	if _, err := os.Stat(scratch); err != nil {
		s.t.Fatal(err)
	}
	<-s.progress // the next report is ten seconds away
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		s.t.Errorf("%v", err)
	}
	for late := time.After(10 * time.Second); ; {
		if _, err := os.Stat(scratch); os.IsNotExist(err) {
			return true
		}
		select {
		case <-late:
			return false
		case <-time.After(5 * time.Millisecond):
		}
	}
}
