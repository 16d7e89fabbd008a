// Package record checks the lines of audit records in tests.
package record

import (
	"fmt"
	"sync"

	"mcp-bash/pkg/json/schema"
	"mcp-bash/schemas"
)

var auditSchema = sync.OnceValues(func() (*schema.Schema, error) { return schema.Compile(schemas.Audit) })

// Check returns the error for a line of an audit record that its schema refuses.
func Check(line []byte) error {
	s, err := auditSchema()
	if err != nil {
		return err
	}
	if faults := s.Check(line); len(faults) > 0 {
		return fmt.Errorf("%v: %s", faults, line)
	}
	return nil
}
