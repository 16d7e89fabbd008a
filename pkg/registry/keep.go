package registry

import (
	"context"
	"errors"
	"fmt"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
)

// keep sees to it that the registry file holds a list, and does not touch one
// that does already. The error is errOvertaken where a list was
// laid over what another program has replaced since.
func (c *Catalog) keep(ctx context.Context, s *state, r request, list *List) error {
	if list == s.unkept && !r.force {
		return nil
	}
	there := c.inspect(s, list.Hash)
	if s.list == nil {
		s.base = there
	}
	if there == list.Hash {
		return nil
	}
	text := writeEnvelope(list.texts(), list.Hash, c.now(), c.store.limit)
	if text == nil {
		return &limitError{s.kind, c.store.limit}
	}
	if c.o.ReadOnly {
		s.unkept = list
		return nil
	}
	wait := c.store.wait
	if r.locked {
		wait = 0
	}
	stamp, err := c.store.write(ctx, s.kind, list.Hash, text, s.over, wait)
	var unwritable *unwritableError
	switch {
	case err == nil:
		s.unkept = nil
		s.mark = c.markOf(list.Hash, stamp)
	case errors.As(err, &unwritable) && !r.force:
		s.unkept = list
		c.unwritable.Do(func() {
			text := "Registry directory is not writable; keeping the registry in memory"
			var insecure *project.InsecureError
			if errors.As(unwritable.err, &insecure) {
				text += ": " + insecure.Error()
			}
			c.log(mcp.Warning, registryLogger, text)
		})
		err = nil
	}
	return err
}

// inspect returns the hash of the valid registry file there is, "" for none.
// The file is read only where its stamp does not tell.
func (c *Catalog) inspect(s *state, want string) string {
	for _, m := range []*mark{&s.mark, &s.saved} {
		if m.hash == want && m.stamp.exists() && c.store.stamp(s.kind.File) == m.stamp {
			s.mark = *m
			return want
		}
	}
	file, err := c.store.read(s.kind)
	if err != nil {
		return ""
	}
	s.mark = c.markOf(file.hash, file.stamp)
	return file.hash
}

// markOf marks a registry file; by its stamp only if that can be believed.
func (c *Catalog) markOf(hash string, st stamp) mark {
	if !st.settled(c.store.clock(c.now())) {
		st = stamp{}
	}
	return mark{hash, st}
}

// A limitError: the file would be too large.
type limitError struct {
	kind  *Kind
	limit int
}

func (e *limitError) Error() string {
	return fmt.Sprintf("%s exceeds %d byte cap", e.kind.Name, e.limit)
}
