package share

import (
	"slices"
	"testing"
)

func TestUsage(t *testing.T) {
	var u Usage
	if u.Equal(100) != 100 || u.Full("a", 1) || u.Exceeds("a", 0) {
		t.Errorf("%+v", u)
	}
	u.Add("a", 60)
	if u.Exceeds("a", 60) || !u.Exceeds("a", 59) {
		t.Error("an owner alone has all")
	}
	u.Add("b", 1)
	if !u.Exceeds("a", 119) || u.Exceeds("a", 120) || u.All() != 61 || u.Of("a") != 60 {
		t.Error("two owners do not have a half each")
	}
	u.Add("a", -60)
	if u.Equal(100) != 100 || u.All() != 1 || len(u.of) != 1 {
		t.Errorf("an owner without use counts: %+v", u)
	}
}

// An owner has half of a table, and programs without an identity all of it.
func TestFull(t *testing.T) {
	for owner, most := range map[string]int{"a": 3, "": 5, Nobody("x"): 5} {
		var u Usage
		n := 0
		for ; !u.Full(owner, 5); n++ {
			u.Add(owner, 1)
		}
		if n != most || u.Full("b", 5) != (most == 5) {
			t.Errorf("%q: %d", owner, n)
		}
	}
}

func TestVictim(t *testing.T) {
	type entry struct {
		owner string
		cost  int
	}
	of := func(e entry) (string, int) { return e.owner, e.cost }
	for _, c := range []struct {
		entries []entry
		want    int
	}{
		{nil, -1},
		{[]entry{{"a", 0}}, -1},
		{[]entry{{"a", 1}, {"b", 1}, {"b", 1}}, 1},
		{[]entry{{"a", 1}, {"b", 1}, {"a", 1}, {"b", 1}}, 0},
		{[]entry{{"a", 2}, {"b", 0}, {"b", 3}}, 2},
		{[]entry{{"a", 5}, {"", 3}, {"", 3}}, 1},
	} {
		if got := Victim(c.entries, of); got != c.want {
			t.Errorf("%v: %d, want %d", c.entries, got, c.want)
		}
	}
}

// Owners take turns however many clients they have, and the clients of one take turns as well.
func TestTurns(t *testing.T) {
	var turns Turns[string]
	for _, c := range []string{"a1", "a2", "a3", "b1", "c1"} {
		turns.Add(c[:1], c)
	}
	turns.Add("a", "a1")
	always, never := func(string) bool { return true }, func(string) bool { return false }
	var got []string
	for range 8 {
		c, _ := turns.Next(always, never)
		got = append(got, c)
	}
	if want := []string{"a1", "b1", "c1", "a2", "b1", "c1", "a3", "b1"}; !slices.Equal(got, want) {
		t.Error(got)
	}
	if c, ok := turns.Next(func(c string) bool { return c == "a3" }, never); c != "a3" || !ok {
		t.Error("a client that is not ready stops another one")
	}
	if c, ok := turns.Next(never, never); ok {
		t.Errorf("%s is not ready", c)
	}
	for _, c := range []string{"a1", "b1", "c1", "none"} {
		turns.Remove(c[:1], c)
	}
	if c, ok := turns.Next(always, func(owner string) bool { return owner == "a" }); c != "a2" || !ok {
		t.Error("an owner with its half cannot use a turn that nobody else wants")
	}
	turns.Add("b", "b1")
	for range 3 {
		if c, _ := turns.Next(always, func(owner string) bool { return owner == "a" }); c != "b1" {
			t.Errorf("%s has a turn before an owner with less", c)
		}
	}
	for _, c := range []string{"a2", "a3", "b1"} {
		turns.Remove(c[:1], c)
	}
	if len(turns.owners) != 0 {
		t.Error("left over")
	}
}
