package protocol

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"sync"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol/internal/throttle"
	"mcp-bash/pkg/wire/mcp"
)

// A tokenGuard accepts only messages with the shared secret (protocol section 23).
type tokenGuard struct {
	settings project.Token

	mu       sync.Mutex
	failures throttle.Throttle // P-2302
}

// check returns the error for a message whose _meta lacks the secret.
func (g *tokenGuard) check(meta json.RawMessage) *mcp.Error {
	if g.settings.Secret == "" {
		return nil
	}
	given, ok := rawjson.Text(rawjson.Get(meta, g.settings.Key))
	if !ok && g.settings.Fallback != "" {
		given, _ = rawjson.Text(rawjson.Get(meta, g.settings.Fallback))
	}
	// All hashes have the same length, so the comparison does not reveal the secret's.
	want, got := sha256.Sum256([]byte(g.settings.Secret)), sha256.Sum256([]byte(given))
	if subtle.ConstantTimeCompare(want[:], got[:]) == 1 {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.failures.Allow(time.Now()) {
		return errTokenThrottled
	}
	return errToken
}

var (
	errToken          = mcp.Errorf(mcp.CodeInvalidParams, "Remote token missing or invalid").Because(mcp.CauseCredential)
	errTokenThrottled = mcp.Errorf(mcp.CodeInvalidParams,
		"Remote token missing or invalid (throttled)").Because(mcp.CauseRate)
)

// strip removes the secret from the _meta that scripts get (P-2304).
func (g *tokenGuard) strip(meta json.RawMessage) json.RawMessage {
	if g.settings.Secret == "" || rawjson.Get(meta, g.settings.Key) == nil && rawjson.Get(meta,
		g.settings.Fallback) == nil {
		return meta
	}
	var b rawjson.Builder
	return b.Object().Members(meta, g.settings.Key, g.settings.Fallback).End().Bytes()
}
