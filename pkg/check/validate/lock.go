package validate

import (
	"errors"
	"fmt"
	"strings"

	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/lock"
)

// shownLines is the number of changed lines of a member in a finding.
const shownLines = 6

// lock compares a locked project with its lock (LOCK-14).
func (c *check) lock() {
	if !c.o.Locked && !c.p.Locked() {
		return
	}
	pinned, err := lock.Read(c.p)
	if unusable, ok := errors.AsType[*lock.FileError](err); ok {
		c.at("lock.unusable", lock.FileName, unusable.Err.Error())
		return
	}
	catalog := registry.NewCatalog(c.p, registry.Options{ReadOnly: true})
	now, err := lock.Of(c.ctx, c.p, catalog, c.p.Root)
	if err != nil {
		c.at("lock.drift", lock.FileName, err.Error())
		return
	}
	changes := lock.Compare(pinned, now)
	for i := range changes {
		change := &changes[i]
		lines := change.Lines()
		switch {
		case change.Member != "":
			message := fmt.Sprintf("%s: %s (%s) has changed: %s", change.Item(), change.Member, change.Concern,
				strings.Join(lines[:min(shownLines, len(lines))], "; "))
			c.at("lock.drift", lock.FileName, message)
		case change.Before == nil:
			c.at("lock.drift", lock.FileName, change.Item()+" is not in it")
		case !catalog.HasHook(): // register.sh, which did not run, may register it
			c.at("lock.drift", lock.FileName, change.Item()+" is not in the project any more")
		}
	}
	if len(changes) == 0 {
		c.good("lock.valid", lock.FileName, "matches the project")
	}
}
