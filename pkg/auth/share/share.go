// Package share divides bounded resources among owners. An owner is the key of a person or program (see
// auth.Identity.Owner), so nobody gets a larger share with more sessions. The types are not safe for concurrent use:
// the package with the resource has the lock.
package share

import (
	"slices"
	"strings"
)

// Usage counts what each owner uses of a resource. The zero value is empty.
type Usage struct {
	of  map[string]int
	all int
}

// Add changes the count of an owner by n.
func (u *Usage) Add(owner string, n int) {
	if u.of == nil {
		u.of = map[string]int{}
	}
	if u.of[owner] += n; u.of[owner] == 0 {
		delete(u.of, owner)
	}
	u.all += n
}

// Of returns the count of an owner.
func (u *Usage) Of(owner string) int { return u.of[owner] }

// All returns the sum of all counts.
func (u *Usage) All() int { return u.all }

// Equal returns an equal share of a bound: the owners that use the resource have one each.
func (u *Usage) Equal(bound int) int { return bound / max(1, len(u.of)) }

// Exceeds reports whether an owner uses more than an equal share of a bound.
func (u *Usage) Exceeds(owner string, bound int) bool { return u.of[owner] > u.Equal(bound) }

// Full reports whether an owner may add nothing to a resource of a size. All of it is in use, or the owner has half of
// it. Owners without an identity are programs of this machine, which may use all.
func (u *Usage) Full(owner string, size int) bool {
	isNobody := owner == "" || strings.HasPrefix(owner, nobody)
	return u.all >= size || !isNobody && u.of[owner] >= Half(size)
}

// Nobody returns the owner of a client without an identity. Clients that the server can distinguish have different
// names.
func Nobody(name string) string {
	if name == "" {
		return ""
	}
	return nobody + name
}

// nobody is the prefix of the keys of owners without an identity. Keys of identities begin with a quote.
const nobody = "nobody "

// Half returns how much one owner may have of a size, so that others find room.
func Half(size int) int { return (size + 1) / 2 }

// Victim returns the index of the entry that makes room for others: the oldest one with a cost, of the owner whose
// entries cost most. entries begin with the oldest. The result is -1 if no entry has a cost.
func Victim[E any](entries []E, of func(E) (owner string, cost int)) int {
	var costs Usage
	most := ""
	for _, e := range entries {
		owner, cost := of(e)
		if costs.Add(owner, cost); costs.Of(owner) > costs.Of(most) {
			most = owner
		}
	}
	for i, e := range entries {
		if owner, cost := of(e); owner == most && cost > 0 {
			return i
		}
	}
	return -1
}

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

// Add lets a client wait. Its turn comes after the other clients of its owner.
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

// Empty reports whether no client waits.
func (t *Turns[C]) Empty() bool { return len(t.owners) == 0 }

// Next returns the client whose turn it is. ready reports whether a client can use its turn. An owner with its half
// waits while another one can use the turn. The client keeps waiting, behind all others.
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
