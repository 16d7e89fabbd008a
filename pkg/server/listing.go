package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sync"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/wire/mcp"
)

// A lister answers one of the list methods from bytes made ready in advance:
// as long as the registry hands out the same list, a page is a copy of a
// stretch of memory.
type lister struct {
	catalog    *registry.Catalog
	kind       *kinds.Kind
	collection string // the name of the array, and the cursor's (P-2002)
	item       func(dst []byte, item json.RawMessage) []byte
	keep       func(item json.RawMessage) bool // which items are offered; nil: all
	ttl        time.Duration                   // for how long a client may keep a page (M-31)
	most       int                             // bytes of a response
	// tells the list's cursors from those of other choices; "" with all items
	view string

	more     *kinds.Kind // whose items follow; nil: none
	moreItem func(dst []byte, item json.RawMessage) []byte

	mu    sync.Mutex
	list  *registry.List
	rest  *registry.List // of more
	hash  string         // what cursors carry
	bytes []byte         // items as they are sent, each followed by a comma
	ends  []int          // where each ends, the comma included
}

// ready returns the prepared bytes of the current list.
func (l *lister) ready(ctx context.Context) (hash string, text []byte, ends []int, err *mcp.Error) {
	list, loadErr := l.catalog.List(ctx, l.kind)
	if loadErr != nil {
		return "", nil, nil, l.kind.Unavailable(loadErr)
	}
	rest := &noItems
	if l.more != nil {
		if rest, loadErr = l.catalog.List(ctx, l.more); loadErr != nil {
			return "", nil, nil, l.more.Unavailable(loadErr)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.list != list || l.rest != rest {
		text, ends = nil, make([]int, 0, len(list.Items)+len(rest.Items))
		for _, item := range list.Items {
			if l.keep != nil && !l.keep(item.JSON) {
				continue
			}
			text = append(l.item(text, item.JSON), ',')
			ends = append(ends, len(text))
		}
		for _, item := range rest.Items {
			text = append(l.moreItem(text, item.JSON), ',')
			ends = append(ends, len(text))
		}
		hash = list.Hash
		if len(rest.Items) > 0 {
			hash = hashOf(hash, rest.Hash)
		}
		if l.view != "" {
			hash = hashOf(hash, l.view)
		}
		l.list, l.rest, l.hash, l.bytes, l.ends = list, rest, hash, text, ends
	}
	return l.hash, l.bytes, l.ends, nil
}

// noItems is the rest of a list that has none.
var noItems registry.List

// hashOf is the hash of a list of which two things decide what is in it
//
func hashOf(hash, other string) string {
	sum := sha256.Sum256([]byte(hash + "|" + other))
	return hex.EncodeToString(sum[:])
}

// serve answers a list request with a page (P-2000, P-2001).
func (l *lister) serve(ctx context.Context, r *request) (*answer, error) {
	params := r.params
	size := pageSize(params)
	cursor, err := cursorOf(params)
	if err != nil {
		return nil, err
	}
	hash, text, ends, err := l.ready(ctx)
	if err != nil {
		return nil, err
	}
	from := 0
	if cursor != "" {
		if from, err = decodeCursor(cursor, l.collection, hash); err != nil {
			return nil, err
		}
	}
	total := len(ends)
	from = min(from, total)
	to := l.lastOf(ends, from, min(from+size, total))
	stretch := text[endOf(ends, from):endOf(ends, to)]
	return &answer{size: len(stretch) + pageRest, ttl: l.ttl, append: func(dst []byte, extra mcp.Extra) []byte {
		head := rawjson.Over(dst)
		extra.AppendMembers(head.Object())
		dst = append(head.Name(l.collection).Bytes(), '[')
		if len(stretch) > 0 {
			dst = append(dst, stretch[:len(stretch)-1]...)
		}
		b := rawjson.Over(append(dst, `],"_meta":`...))
		b.Object().Name("mcpbash/total").Int(total)
		extra.AppendMeta(b)
		dst = b.End().Bytes()
		if to < total {
			dst = append(dst, `,"nextCursor":`...)
			dst = rawjson.AppendString(dst, encodeCursor(l.collection, to, hash, time.Now()))
		}
		return append(dst, '}')
	}}, nil
}

// pageRest is more than a page has beside its items, in bytes.
const pageRest = 4 << 10

// lastOf is where a page ends that begins at from: before to where the items until there
// are more than a response may have (M-35), but never without an item.
func (l *lister) lastOf(ends []int, from, to int) int {
	room := endOf(ends, from) + l.most - pageRest
	for to > from+1 && endOf(ends, to) > room {
		to--
	}
	return to
}

func endOf(ends []int, n int) int {
	if n == 0 {
		return 0
	}
	return ends[n-1]
}
