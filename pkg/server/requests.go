package server

import (
	"errors"
	"sync"

	"mcp-bash/pkg/wire/jsonrpc"
)

// requests are those in flight: running, or waiting for a slot (protocol
// section 18).
type requests struct {
	slots    int
	bound    int // on bytes
	mu       sync.Mutex
	idle     sync.Cond // all are answered, or none is left
	room     sync.Cond // the reading may go on: see awaitRoom
	inFlight map[string]*request
	running  int
	answered int // of the running ones: their answers are only to be written
	queue    []*request
	bytes    int // of all that run or wait
}

// maxQueued is how many may wait (P-1801).
const maxQueued = 1024

func newRequests(slots, bound int) *requests {
	r := &requests{slots: slots, bound: bound, inFlight: make(map[string]*request)}
	r.idle.L, r.room.L = &r.mu, &r.mu
	return r
}

// errCancelledByClient ends a request for which nothing more is sent.
var errCancelledByClient = errors.New("cancelled by the client")

// errHandedOver is returned by a handler whose request is answered by another goroutine.
var errHandedOver = errors.New("handed over")

// A placing is what becomes of a new request.
type placing int

const (
	placeRun       placing = iota // the caller runs it
	placeQueued                   // another request's goroutine will
	placeDuplicate                // its id is in use (P-506)
	placeFull                     // too many wait
)

func (r *requests) place(req *request) placing {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inFlight[req.key] != nil {
		return placeDuplicate
	}
	if r.bytes > r.bound || r.running >= r.slots && len(r.queue) >= maxQueued {
		return placeFull
	}
	r.inFlight[req.key] = req
	req.bytes = req.size()
	r.bytes += req.bytes
	if r.running >= r.slots {
		r.queue = append(r.queue, req)
		return placeQueued
	}
	r.running++
	return placeRun
}

// release gives the id of a request free: a client that has the answer may use
// it again, so this comes before the answer.
func (r *requests) release(req *request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inFlight[req.key] == req {
		delete(r.inFlight, req.key)
	}
	if !req.answered {
		req.answered = true
		r.answered++
		r.announce()
	}
}

// next ends a running request, whose id is released, and returns the one that
// takes its slot, nil when none waits.
func (r *requests) next(ended *request) *request {
	ended.cancel(nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(ended)
	if ended.answered {
		r.answered--
	}
	if len(r.queue) == 0 {
		r.running--
		r.announce()
		return nil
	}
	req := r.queue[0]
	r.queue[0] = nil
	r.queue = r.queue[1:]
	return req
}

// drop no longer counts the bytes of a request. The lock is held.
func (r *requests) drop(req *request) {
	r.bytes -= req.bytes
	r.room.Broadcast()
}

// awaitRoom waits while what runs and what waits takes more bytes than the bound,
// unless the client has something to answer: that has to be read, or what runs
// would wait for ever (P-1804).
func (r *requests) awaitRoom(asked func() bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.bytes > r.bound && !asked() {
		r.room.Wait()
	}
}

// full reports whether awaitRoom might wait.
func (r *requests) full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bytes > r.bound
}

// wake has awaitRoom look again.
func (r *requests) wake() {
	r.mu.Lock()
	r.room.Broadcast()
	r.mu.Unlock()
}

func (r *requests) announce() {
	if r.running == r.answered && len(r.queue) == 0 {
		r.idle.Broadcast()
	}
}

// isDuplicate reports whether an id is in use.
func (r *requests) isDuplicate(id jsonrpc.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.inFlight) > 0 && r.inFlight[id.Key()] != nil
}

// cancelOne cancels the request with that key, running or waiting, and reports
// whether there is one.
func (r *requests) cancelOne(key string, cause error) bool {
	r.mu.Lock()
	req := r.inFlight[key]
	if req != nil {
		delete(r.inFlight, key)
		for i, q := range r.queue {
			if q == req {
				r.queue = append(r.queue[:i:i], r.queue[i+1:]...)
				r.drop(req)
				r.announce()
				break
			}
		}
	}
	r.mu.Unlock()
	if req == nil {
		return false
	}
	req.close()
	req.cancel(cause)
	return true
}

// cancelAll ends every request without an answer.
func (r *requests) cancelAll(cause error) {
	r.mu.Lock()
	for _, req := range r.inFlight {
		req.close()
		req.cancel(cause)
	}
	for _, req := range r.queue {
		r.drop(req)
	}
	r.queue = nil
	r.announce()
	r.mu.Unlock()
}

// waitAnswered returns when all are answered, whether or not the client reads.
func (r *requests) waitAnswered() {
	r.mu.Lock()
	for r.running > r.answered || len(r.queue) > 0 {
		r.idle.Wait()
	}
	r.mu.Unlock()
}

// wait returns when none is in flight.
func (r *requests) wait() {
	r.mu.Lock()
	for r.running > 0 || len(r.queue) > 0 {
		r.idle.Wait()
	}
	r.mu.Unlock()
}

func (r *requests) busy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running > 0 || len(r.queue) > 0
}
