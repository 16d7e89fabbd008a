package server

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/registry"
)

// A lister answers one of the list methods from bytes made ready in advance:
// as long as the registry hands out the same list, a page is a copy of a
// stretch of memory.
type lister struct {
	catalog    *registry.Catalog
	kind       *registry.Kind
	collection string // the name of the array, and the cursor's (P-2002)
	item       func(dst []byte, item json.RawMessage) []byte

	mu    sync.Mutex
	list  *registry.List
	bytes []byte // items as they are sent, each followed by a comma
	ends  []int  // where each ends, the comma included
}

// ready returns the prepared bytes of the current list.
func (l *lister) ready(ctx context.Context) (list *registry.List, text []byte, ends []int, err *mcp.Error) {
	list, loadErr := l.catalog.List(ctx, l.kind)
	if loadErr != nil {
		return nil, nil, nil, l.kind.Unavailable(loadErr)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.list != list {
		text, ends = nil, make([]int, 0, len(list.Items))
		for _, item := range list.Items {
			text = append(l.item(text, item.JSON), ',')
			ends = append(ends, len(text))
		}
		l.list, l.bytes, l.ends = list, text, ends
	}
	return l.list, l.bytes, l.ends, nil
}

// page answers a list request (P-2000, P-2001).
func (l *lister) page(ctx context.Context, params json.RawMessage) (*answer, error) {
	size := pageSize(params)
	cursor, err := cursorOf(params)
	if err != nil {
		return nil, err
	}
	list, text, ends, err := l.ready(ctx)
	if err != nil {
		return nil, err
	}
	from := 0
	if cursor != "" {
		if from, err = decodeCursor(cursor, l.collection, list.Hash); err != nil {
			return nil, err
		}
	}
	total := len(ends)
	from = min(from, total)
	to := min(from+size, total)
	stretch := text[endOf(ends, from):endOf(ends, to)]
	return &answer{size: len(stretch) + 1024, append: func(dst []byte) []byte {
		dst = append(dst, `{"`...)
		dst = append(dst, l.collection...)
		dst = append(dst, `":[`...)
		if len(stretch) > 0 {
			dst = append(dst, stretch[:len(stretch)-1]...)
		}
		b := rawjson.Over(append(dst, `],"_meta":`...))
		b.Object().Name("mcpbash/total").Int(total).End()
		dst = b.Bytes()
		if to < total {
			dst = append(dst, `,"nextCursor":`...)
			dst = rawjson.AppendString(dst, encodeCursor(l.collection, to, list.Hash, time.Now()))
		}
		return append(dst, '}')
	}}, nil
}

func endOf(ends []int, n int) int {
	if n == 0 {
		return 0
	}
	return ends[n-1]
}
