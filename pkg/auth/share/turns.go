package share

import "slices"

// Turns are clients that wait for something. Owners take turns, and so do the clients of an owner. The zero value is
// empty.
type Turns[C comparable] struct {
	owners []*line[C] // the next one first
}

// A line has the waiting clients of an owner, the next one first.
type line[C comparable] struct {
	owner   string
	clients []C
}

// Add lets a client wait. Its turn comes after that of the other clients of its owner.
func (t *Turns[C]) Add(owner string, c C) {
	i := t.index(owner)
	if i < 0 {
		i = len(t.owners)
		t.owners = append(t.owners, &line[C]{owner: owner})
	}
	if l := t.owners[i]; !slices.Contains(l.clients, c) {
		l.clients = append(l.clients, c)
	}
}

// Remove lets a client wait no longer.
func (t *Turns[C]) Remove(owner string, c C) {
	i := t.index(owner)
	if i < 0 {
		return
	}
	l := t.owners[i]
	if at := slices.Index(l.clients, c); at >= 0 {
		l.clients = slices.Delete(l.clients, at, at+1)
	}
	if len(l.clients) == 0 {
		t.owners = slices.Delete(t.owners, i, i+1)
	}
}

// Empty reports whether nobody waits.
func (t *Turns[C]) Empty() bool { return len(t.owners) == 0 }

// Next returns the client whose turn it is. ready reports whether a client can use its turn. An owner with its half
// waits while another one can use the turn. The client waits on, after all others.
func (t *Turns[C]) Next(ready func(C) bool, hasHalf func(owner string) bool) (c C, ok bool) {
	owner, client := -1, -1
	for i, l := range t.owners {
		half := hasHalf(l.owner)
		if half && owner >= 0 {
			continue
		}
		at := slices.IndexFunc(l.clients, ready)
		if at < 0 {
			continue
		}
		if owner, client = i, at; !half {
			break
		}
	}
	if owner < 0 {
		return c, false
	}
	l := t.owners[owner]
	c = l.clients[client]
	l.clients = append(slices.Delete(l.clients, client, client+1), c)
	t.owners = append(slices.Delete(t.owners, owner, owner+1), l)
	return c, true
}

func (t *Turns[C]) index(owner string) int {
	return slices.IndexFunc(t.owners, func(l *line[C]) bool { return l.owner == owner })
}
