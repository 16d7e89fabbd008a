// Package share divides bounded resources among owners. An owner is the key of a person or program (see
// auth.Identity.Owner), so nobody gets a larger share with more sessions. The types are not safe for concurrent use:
// the package with the resource has the lock.
package share

import "strings"

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
	return u.all >= size || !isNobody(owner) && u.of[owner] >= Half(size)
}

// Nobody returns the owner that a client without an identity is. Clients that the server can distinguish have different
// names.
func Nobody(name string) string {
	if name == "" {
		return ""
	}
	return nobody + name
}

// nobody begins the keys of owners without an identity. Keys of identities begin with a quote.
const nobody = "nobody "

func isNobody(owner string) bool { return owner == "" || strings.HasPrefix(owner, nobody) }

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
