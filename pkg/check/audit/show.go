package audit

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/trail"
	"mcp-bash/pkg/json/rawjson"
)

// A Selection chooses lines. Empty members choose all.
type Selection struct {
	Tool    string // a name, with * for any text
	Caller  string // the user, or else the client, in the same form
	Outcome events.Outcome
	Since   time.Time
	All     bool // also lines that are not about a request
}

// Has reports whether a line is chosen.
func (s *Selection) Has(e *trail.Entry) bool {
	switch {
	case e.Broken != nil:
		return false
	case !e.IsCall() && !s.All:
		return false
	}
	return matches(s.Tool, e.Target) && matches(s.Caller, callerOf(e)) && (s.Outcome == "" || s.Outcome == e.Outcome) &&
		!e.Time.Before(s.Since)
}

// matches reports whether a text matches a pattern, if there is one.
func matches(pattern, text string) bool { return pattern == "" || auth.Matches(pattern, text) }

// Columns are the names of the columns of [Row].
func Columns() []string {
	return []string{"TIME", "CALLER", "WHAT", "OUTCOME", "WHY", "WAITED", "SCRIPT", "TOOK", "FROM"}
}

// Row returns a line as the row of a table.
func Row(e *trail.Entry) []string {
	what := e.Target
	if !e.IsCall() {
		what = strings.TrimPrefix(strings.TrimPrefix(string(e.Type), "mcpbash_"), "mcp_")
		if e.Count > 0 {
			what += " " + strconv.Itoa(e.Count)
		}
	}
	why := strings.ReplaceAll(e.Reason, "_", " ")
	switch {
	case e.Reason == "exit_status":
		why = "exit " + e.Status
	case e.Interim:
		why = "goes on"
	case e.IsCall() && e.Count > 0: // other refusals were left out
		why += " (" + strconv.Itoa(e.Count) + " more)"
	}
	return []string{
		moment(e.Time), callerOf(e), what, string(e.Outcome), why, short(e.Queued), short(e.Ran), short(e.Took), e.Address,
	}
}

// Aligned returns a row as a line, for rows whose neighbours are not known yet. Longer cells are cut.
func Aligned(row []string) (line string) {
	widths := [...]int{19, 16, 24, 17, 17, 8, 8, 8, 21}
	for i, cell := range row {
		line += cli.Pad(cli.Cut(cli.Line(cell), widths[i]), widths[i]+2)
	}
	return strings.TrimRight(line, " ")
}

func moment(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

func callerOf(e *trail.Entry) string {
	if !e.IsCall() && e.User == "" && e.Client == "" { // not about a session either
		return "server"
	}
	return e.Caller()
}

// short returns a duration for people.
func short(d time.Duration) string {
	switch {
	case d == 0:
		return ""
	case d < time.Second:
		return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', 1, 64) + " ms"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
}

// A Summary counts requests by tool and caller. Its size is bounded, because clients choose their names.
type Summary struct{ groups map[[2]string]*group }

const (
	maxGroups = 2000 // without the group for all others
	maxKey    = 1100 // characters; a server writes fewer
)

var others = [2]string{"(others)", "(others)"}

type group struct {
	Calls, Refused, Failed int
	took                   map[time.Duration]int // the number of requests by duration, rounded to two digits
}

// Add counts a line. A request with several lines counts once.
func (s *Summary) Add(e *trail.Entry) {
	if !e.IsCall() || e.Interim {
		return
	}
	if s.groups == nil {
		s.groups = map[[2]string]*group{}
	}
	key := [2]string{cli.Cut(e.Target, maxKey), cli.Cut(e.Caller(), maxKey)}
	g := s.groups[key]
	if g == nil && len(s.groups) >= maxGroups {
		key = others
		g = s.groups[key]
	}
	if g == nil {
		g = &group{}
		s.groups[key] = g
	}
	g.add(e)
}

func (g *group) add(e *trail.Entry) {
	n := e.Requests()
	g.Calls += n
	switch e.Outcome {
	case events.Success:
	case events.Denied:
		g.Refused += n
	default:
		g.Failed += n
	}
	if g.took == nil {
		g.took = map[time.Duration]int{}
	}
	unit := time.Microsecond
	for e.Took/100 >= unit {
		unit *= 10
	}
	g.took[e.Took.Round(unit)] += n
}

func (s *Summary) keys() [][2]string {
	keys := slices.Collect(maps.Keys(s.groups))
	slices.SortFunc(keys, func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(s.groups[b].Calls, s.groups[a].Calls), cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	return keys
}

// share returns the time within which a share of the requests was answered, rounded to two digits.
func (g *group) share(of float64) (within time.Duration) {
	left := int(of * float64(g.Calls))
	for _, within = range slices.Sorted(maps.Keys(g.took)) {
		if left -= g.took[within]; left < 0 {
			break
		}
	}
	return within
}

// Table returns the counts as a table, the most frequent first.
func (s *Summary) Table() cli.Table {
	t := cli.Table{{"WHAT", "CALLER", "CALLS", "REFUSED", "FAILED", "P50", "P99"}}
	for _, k := range s.keys() {
		g := s.groups[k]
		t = append(t, []string{
			k[0], k[1], strconv.Itoa(g.Calls), strconv.Itoa(g.Refused), strconv.Itoa(g.Failed), short(g.share(0.5)),
			short(g.share(0.99)),
		})
	}
	return t
}

// AppendJSON appends a line of JSON for each row of the table.
func (s *Summary) AppendJSON(dst []byte) []byte {
	for _, k := range s.keys() {
		g := s.groups[k]
		b := rawjson.Over(dst)
		b.Object().Name("target").String(k[0]).Name("caller").String(k[1]).Name("calls").Int(g.Calls).
			Name("refused").Int(g.Refused).Name("failed").Int(g.Failed).
			Name("p50Ms").Raw(ms(g.share(0.5))).Name("p99Ms").Raw(ms(g.share(0.99)))
		dst = append(b.End().Bytes(), '\n')
	}
	return dst
}

func ms(d time.Duration) []byte {
	return strconv.AppendFloat(nil, float64(d.Microseconds())/1000, 'f', -1, 64)
}
