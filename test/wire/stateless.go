package wire

import (
	"encoding/json"
	"fmt"
)

// stateless is the revision without a handshake, whose requests name it.
const stateless = "2026-07-28"

const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// isStateless reports whether a request of the client belongs to the stateless revision.
func isStateless(method string, params json.RawMessage) bool {
	var p struct {
		Meta map[string]any `json:"_meta"`
	}
	json.Unmarshal(params, &p)
	_, named := p.Meta[metaVersion]
	return named || method == "server/discover"
}

// statelessResults are the definitions of that revision where they differ.
var statelessResults = map[string]string{
	"server/discover": "DiscoverResult", "subscriptions/listen": "SubscriptionsListenResult",
}

// checkStateless checks a result of the stateless revision.
func (c *Checker) checkStateless(method string, result any) error {
	r, _ := result.(map[string]any)
	if r["resultType"] == "input_required" {
		if method != "tools/call" && method != "prompts/get" {
			return fmt.Errorf("%s asks for input", method)
		}
		return check(stateless, "InputRequiredResult", result)
	}
	if r["resultType"] == "task" && method == "tools/call" {
		return checkTask(r, false)
	}
	if r["resultType"] != "complete" {
		return fmt.Errorf("%s: resultType is %v", method, r["resultType"])
	}
	if method == "tasks/get" {
		return checkTask(r, true)
	}
	definition := results[method]
	if d := statelessResults[method]; d != "" {
		definition = d
	}
	return check(stateless, definition, result)
}

// statelessErrors are the codes that the revision keeps to itself.
var statelessErrors = map[float64]string{
	-32020: "HeaderMismatchError", -32021: "MissingRequiredClientCapabilityError",
	-32022: "UnsupportedProtocolVersionError",
}

// checkStatelessError checks an error answer to a stateless request (M-40).
func checkStatelessError(m map[string]any) error {
	e, _ := m["error"].(map[string]any)
	number, _ := e["code"].(json.Number)
	code, _ := number.Float64()
	if definition := statelessErrors[code]; definition != "" {
		return check(stateless, definition, m)
	}
	if code >= -32099 && code <= -32000 {
		return fmt.Errorf("code %v is reserved in %s", code, stateless)
	}
	return check(stateless, "JSONRPCErrorResponse", m)
}
