package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// The schema of the revision does not have the extension io.modelcontextprotocol/tasks. Its text
// (SEP-2663) has types, which are checked here.

// contents are the members that belong to a state of a task.
var contents = map[string]string{
	"working": "", "input_required": "inputRequests", "completed": "result", "failed": "error", "cancelled": "",
}

// checkTask checks a task. detailed is false for the result that creates it.
func checkTask(task map[string]any, detailed bool) error {
	id, _ := task["taskId"].(string)
	status, _ := task["status"].(string)
	content, known := contents[status]
	if id == "" || !known {
		return fmt.Errorf("a task with the id %v and the status %v", task["taskId"], task["status"])
	}
	for _, name := range []string{"createdAt", "lastUpdatedAt"} {
		text, _ := task[name].(string)
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for name, required := range map[string]bool{"ttlMs": true, "pollIntervalMs": false} {
		v, present := task[name]
		number, isNumber := v.(json.Number)
		switch {
		case !present && !required, present && v == nil && name == "ttlMs":
		case !isNumber || strings.Trim(string(number), "0123456789") != "" || number == "0":
			return fmt.Errorf("%s is %v", name, v)
		}
	}
	for _, name := range []string{"requestState", "ttl", "pollInterval", "task"} {
		if _, present := task[name]; present {
			return fmt.Errorf("a task has no %s", name)
		}
	}
	for _, name := range contents {
		_, present := task[name]
		if name != "" && present != (detailed && name == content) {
			return fmt.Errorf("a task that is %s, detailed %t: %s is present %t", status, detailed, name, present)
		}
	}
	if detailed && status == "completed" {
		return check(stateless, "CallToolResult", task["result"])
	}
	return nil
}
