package project

import "time"

// Fetching is how resources are read and watched (resources section 24).
type Fetching struct {
	Timeout  time.Duration // of a provider script; 0: none. MCPBASH_PROVIDER_TIMEOUT
	UseRoots bool          // MCPBASH_RESOURCES_USE_ROOTS
	// between looks at what is subscribed to; 0: never. MCPBASH_RESOURCES_POLL_INTERVAL_SECS
	Poll             time.Duration
	SubscribeTimeout int    // seconds; MCPBASH_DEFAULT_SUBSCRIBE_TIMEOUT; 0: none
	SubscribeResult  string // auto, id, empty: MCPBASH_SUBSCRIBE_RESULT
}

const maxProviderTimeout = 600

// leastPoll keeps a very short interval from taking up a whole core.
const leastPoll = 10 * time.Millisecond

func readFetching(env Env) Fetching {
	f := Fetching{
		Timeout:          Seconds(min(env.count("MCPBASH_PROVIDER_TIMEOUT", 60), maxProviderTimeout)),
		UseRoots:         env.on("MCPBASH_RESOURCES_USE_ROOTS"),
		Poll:             env.fraction("MCPBASH_RESOURCES_POLL_INTERVAL_SECS", 2*time.Second, 0),
		SubscribeTimeout: env.count("MCPBASH_DEFAULT_SUBSCRIBE_TIMEOUT", 120),
		SubscribeResult:  "auto",
	}
	if f.Poll > 0 {
		f.Poll = max(f.Poll, leastPoll)
	}
	switch v := env["MCPBASH_SUBSCRIBE_RESULT"]; v {
	case "id", "empty":
		f.SubscribeResult = v
	}
	return f
}
