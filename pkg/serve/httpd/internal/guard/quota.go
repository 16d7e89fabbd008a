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
	log     func(line string)
	now     func() time.Time
	mu      sync.Mutex
	limiter *rate.Limiter
	left    int // lines since the last one that was logged
}

// The bounds of a quota. At most 2 MB of lines of the usual 200 bytes come in a day.
const (
	quotaBurst = 60
	quotaPace  = 10 * time.Second
	quotaLine  = 2 << 10 // bytes
)

// NewQuota returns a quota for lines that log writes.
func NewQuota(log func(line string)) *Quota {
	return &Quota{log: log, now: time.Now, limiter: rate.NewLimiter(rate.Every(quotaPace), quotaBurst)}
}

// Line logs a line, or leaves it out. The next line has the number of those left out.
func (q *Quota) Line(text string) {
	q.mu.Lock()
	ok, left := q.limiter.AllowN(q.now(), 1), q.left
	if q.left++; ok {
		q.left = 0
	}
	q.mu.Unlock()
	if !ok {
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
