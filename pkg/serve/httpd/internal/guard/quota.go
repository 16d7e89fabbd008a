package guard

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"mcp-bash/pkg/text/ascii"
)

// A Quota passes on lines about connections and credentials, whose number clients decide. It bounds how
// fast they fill a log, and counts the lines that it leaves out.
type Quota struct {
	*Sample
	log func(line string)
}

// A Sample chooses a few of many things, whose number clients decide, and counts the others.
type Sample struct {
	now     func() time.Time
	mu      sync.Mutex
	limiter *rate.Limiter
	left    int // things since the last one that was chosen
}

// NewSample returns a sample of at most burst things at once, and then of one in each pace.
func NewSample(burst int, pace time.Duration) *Sample {
	return &Sample{now: time.Now, limiter: rate.NewLimiter(rate.Every(pace), burst)}
}

// Take reports whether the next thing is chosen, and how many before it were not.
func (s *Sample) Take() (chosen bool, left int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	chosen, left = s.limiter.AllowN(s.now(), 1), s.left
	if s.left++; chosen {
		s.left = 0
	}
	return chosen, left
}

// The bounds of a quota. At most 2 MB of lines of the usual 200 bytes come in a day.
const (
	quotaBurst = 60
	quotaPace  = 10 * time.Second
	quotaLine  = 2 << 10 // bytes
)

// NewQuota returns a quota for lines that log writes.
func NewQuota(log func(line string)) *Quota {
	return &Quota{NewSample(quotaBurst, quotaPace), log}
}

// Line logs a line, or leaves it out. The next line has the number of those left out.
func (q *Quota) Line(text string) {
	chosen, left := q.Take()
	if !chosen {
		return
	}
	if len(text) > quotaLine {
		text = strings.ToValidUTF8(text[:quotaLine], "") + " (shortened)"
	}
	if left > 0 {
		text += fmt.Sprintf(" (%d similar lines left out)", left)
	}
	q.log(text)
}

// Write logs a line of net/http. It is for [http.Server.ErrorLog].
func (q *Quota) Write(p []byte) (int, error) {
	q.Line(ascii.TrimLine(string(p)))
	return len(p), nil
}
