package console

import (
	"encoding/json"
	"strings"
	"testing"
)

// AUD-8: each line is an object, however the text arrives, and a long line is several without a loss.
func TestJSONLog(t *testing.T) {
	long := strings.Repeat("ab", maxPart)
	for _, pieces := range [][]string{
		{"one\ntwo\n"}, {"o", "ne\r\ntw", "o\n"}, {"one\n", "\n", "two\n"}, {long + "\n"}, {long[:100], long[100:], "\n"},
	} {
		var out strings.Builder
		log := &JSONLog{Out: &out}
		for _, text := range pieces {
			log.Write([]byte(text))
		}
		var got strings.Builder
		for line := range strings.Lines(out.String()) {
			var of struct{ Time, Level, Logger, Msg string }
			if err := json.Unmarshal([]byte(line), &of); err != nil || of.Time == "" || of.Level != "info" || of.Logger == "" {
				t.Errorf("%v: %.100s", err, line)
			}
			got.WriteString(of.Msg)
		}
		want := strings.NewReplacer("\r", "", "\n", "").Replace(strings.Join(pieces, ""))
		if got.String() != want {
			t.Errorf("%.20q: %d bytes, want %d", pieces, got.Len(), len(want))
		}
	}
}
