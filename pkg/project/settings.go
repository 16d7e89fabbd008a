package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mcp-bash/pkg/wire/mcp"
)

// Settings are everything the environment decides, read once. Each field names
// its variable; the table with defaults and meanings is docs/contract/env.md.
type Settings struct {
	Logging     Logging
	Limits      Limits
	Sessions    Sessions
	Token       Token
	Calls       Calls
	Discovery   Discovery
	Fetching    Fetching
	TmpRoot     string // MCPBASH_TMP_ROOT, else TMPDIR, else /tmp; no slash at the end
	CI          bool   // MCPBASH_CI_MODE
	Minimal     bool   // MCPBASH_FORCE_MINIMAL, or MCPBASH_JSON_TOOL=none
	Forced      bool   // the former of the two
	Preserve    bool   // MCPBASH_PRESERVE_STATE
	KeepLogs    bool   // MCPBASH_KEEP_LOGS
	MaxResource int    // MCPBASH_MAX_RESOURCE_BYTES

	EnvTimeout time.Duration // of env.sh; 0: none. MCPBASH_ENV_TIMEOUT
}

// Logging is what is said, and where.
type Logging struct {
	Level         mcp.Level // MCPBASH_LOG_LEVEL, MCPBASH_LOG_LEVEL_DEFAULT (P-1301)
	LevelSet      bool      // by MCPBASH_LOG_LEVEL or the marker: scripts are told
	Marker        bool      // server.d/.debug made it debug (P-108)
	Verbose       bool      // MCPBASH_LOG_VERBOSE: paths and URIs may appear
	Quiet         bool      // MCPBASH_QUIET, or a level of error and above (P-1306)
	Startup       bool      // MCPBASH_LOG_STARTUP, or Verbose (P-110)
	JSONTool      bool      // MCPBASH_LOG_JSON_TOOL=log, or Verbose (P-112)
	Timestamp     bool      // MCPBASH_LOG_TIMESTAMP
	Dir           string    // MCPBASH_LOG_DIR, "" when none
	DebugPayloads bool      // MCPBASH_DEBUG_PAYLOADS
	DebugErrors   bool      // MCPBASH_DEBUG_ERRORS
}

// Limits bound what the server takes and gives (protocol section 27).
type Limits struct {
	Line         int // MCPBASH_MAX_LINE_BYTES
	Pending      int // MCPBASH_MAX_PENDING_BYTES
	Response     int // MCPBASH_MAX_TOOL_OUTPUT_SIZE, else maxResponse, as are the next two
	ListResponse int // MCPBASH_REGISTRY_MAX_BYTES
	Read         int // of resources/read: a blob of MCPBASH_MAX_RESOURCE_BYTES fits where that is set (RES-47)
	Concurrent   int // MCPBASH_MAX_CONCURRENT_REQUESTS
	Progress     int // MCPBASH_MAX_PROGRESS_PER_MIN; 0: none
	Logs         int // MCPBASH_MAX_LOGS_PER_MIN; 0: none
}

// Sessions is how long things last.
type Sessions struct {
	Idle           time.Duration // MCPBASH_IDLE_TIMEOUT; 0: never
	OrphanCheck    time.Duration // MCPBASH_ORPHAN_CHECK_INTERVAL; 0: never
	Shutdown       time.Duration // MCPBASH_SHUTDOWN_TIMEOUT
	LiveProgress   bool          // MCPBASH_ENABLE_LIVE_PROGRESS
	ProgressFlush  time.Duration // MCPBASH_PROGRESS_FLUSH_INTERVAL
	CompatBatches  bool          // MCPBASH_COMPAT_BATCHES
	RootsTimeout   time.Duration // MCPBASH_ROOTS_REQUEST_TIMEOUT
	RootsDebounce  time.Duration // MCPBASH_ROOTS_DEBOUNCE_INTERVAL
	ParkedTTL      time.Duration // MCPBASH_PARKED_CALL_TTL
	MaxParkedCalls int           // MCPBASH_MAX_PARKED_CALLS
}

// Token is the remote token guard (protocol section 23).
type Token struct {
	Secret      string // MCPBASH_REMOTE_TOKEN; "" turns the guard off
	Key         string // MCPBASH_REMOTE_TOKEN_KEY
	Fallback    string // MCPBASH_REMOTE_TOKEN_FALLBACK_KEY; "" for none
	MaxFailures int    // a minute; 0: no limit
}

// minToken is the length of the shortest secret accepted (P-2300).
const minToken = 32

// Check refuses a shared secret that is easily guessed (P-2300).
func (t *Token) Check() error {
	if t.Secret != "" && len(t.Secret) < minToken {
		return errors.New("mcp-bash: MCPBASH_REMOTE_TOKEN must be at least 32 characters; refusing weak shared secret")
	}
	return nil
}

// Calls is how tools run (tools section 17).
type Calls struct {
	Timeout                 int // seconds; MCPBASH_DEFAULT_TOOL_TIMEOUT; 0: none
	ProgressExtends         bool
	MaxTimeout              int // seconds; MCPBASH_MAX_TIMEOUT_SECS
	TimeoutHint             string
	MaxStdout               int
	MaxStderr               int
	StderrCapture           bool
	StderrTail              int // bytes
	TimeoutCapture          bool
	StreamStderr            bool
	FailureIsError          bool   // MCPBASH_TOOL_FAILURE_MODE=error
	Validate                string // MCPBASH_TOOL_VALIDATE_ARGS: "true", "false" or ""
	CompletionTimeout       int    // seconds; MCPBASH_COMPLETION_TIMEOUT_SECS; 0: none
	ListedCompletionTimeout int    // seconds; MCPBASH_COMPLETION_REGISTERED_TIMEOUT_SECS; 0: none

	PayloadInline int // bytes; MCPBASH_ENV_PAYLOAD_THRESHOLD, at most 120000
	Trace         bool
	TracePS4      string
	TraceMax      int // bytes
	DebugLog      string
	Allowlist     []string // MCPBASH_TOOL_ALLOWLIST
	AllowDefault  bool     // see DefaultAllows
	PolicyContext string   // MCPBASH_TOOL_POLICY_CONTEXT
	GithubActions bool     // GITHUB_ACTIONS
}

// Discovery is how a project's content is found (registry section 18).
type Discovery struct {
	ToolsTTL        time.Duration
	ResourcesTTL    time.Duration
	TemplatesTTL    time.Duration
	PromptsTTL      time.Duration
	UITTL           time.Duration
	RegisterTTL     time.Duration
	RegisterTimeout time.Duration // 0: none
	Hooks           bool          // MCPBASH_ALLOW_PROJECT_HOOKS
	MaxManual       int           // bytes
	ManualBuffer    int           // bytes; 0: none
	Static          bool
	MaxBytes        int
	SubPath         string // MCPBASH_REGISTRY_REFRESH_PATH
	SecurityLevel   string // MCPBASH_SECURITY_LEVEL, as given
	Confine         string // MCPBASH_CONFINE, as given
}

// MaxInline is how long a value can be that is handed over in a variable, in
// bytes: one string of an environment may not exceed 128 KiB (T-77).
const MaxInline = 120000

const (
	// maxResponse bounds every line to the client, in bytes, unless the operator allows more:
	// one client closes the connection when it has buffered 10 MiB of a line (M-35).
	maxResponse    = 9 << 20
	defaultOutput  = 10 << 20
	defaultIdle    = 3600
	defaultPS4     = `+ ${BASH_SOURCE[0]##*/}:${LINENO}: `
	registryMaxDef = 100 << 20
)

// ReadSettings reads the settings of an environment. It applies the defaults
// of CI mode to the environment first, so that scripts see them too (P-303).
func ReadSettings(env Env, dirs Dirs) Settings {
	if env.on("MCPBASH_CI_MODE") {
		applyCI(env)
	}
	s := Settings{
		TmpRoot:  tmpRoot(env),
		CI:       env.on("MCPBASH_CI_MODE"),
		Forced:   env.on("MCPBASH_FORCE_MINIMAL"),
		Preserve: env.on("MCPBASH_PRESERVE_STATE"),
		KeepLogs: env.on("MCPBASH_KEEP_LOGS"),
	}
	s.Minimal = s.Forced || env["MCPBASH_JSON_TOOL"] == "none" && !relativeOverride(env)
	s.Logging = readLogging(env, dirs)
	output := env.positive("MCPBASH_MAX_TOOL_OUTPUT_SIZE", defaultOutput)
	s.MaxResource = env.count("MCPBASH_MAX_RESOURCE_BYTES", output)
	progress := env.count("MCPBASH_MAX_PROGRESS_PER_MIN", 100)
	s.Limits = Limits{
		Line:         env.positive("MCPBASH_MAX_LINE_BYTES", 64<<20),
		Pending:      env.positive("MCPBASH_MAX_PENDING_BYTES", 64<<20),
		Response:     env.positive("MCPBASH_MAX_TOOL_OUTPUT_SIZE", maxResponse),
		ListResponse: env.positive("MCPBASH_REGISTRY_MAX_BYTES", maxResponse),
		Read:         maxResponse,
		Concurrent:   max(1, env.count("MCPBASH_MAX_CONCURRENT_REQUESTS", 16)),
		Progress:     progress,
		Logs:         env.count("MCPBASH_MAX_LOGS_PER_MIN", progress),
	}
	if env["MCPBASH_MAX_TOOL_OUTPUT_SIZE"] != "" || env["MCPBASH_MAX_RESOURCE_BYTES"] != "" {
		s.Limits.Read = max(s.Limits.Response, s.MaxResource/3*4+64<<10)
	}
	if v := env["MCPBASH_MAX_LOGS_PER_MIN"]; v != "" && strings.Trim(v, "0123456789") != "" {
		s.Limits.Logs = 100 // P-1500: what is not a number is 100, not the progress value
	}
	s.Sessions = readSessions(env, s.CI)
	s.Token = Token{
		Secret:      env["MCPBASH_REMOTE_TOKEN"],
		Key:         or(env["MCPBASH_REMOTE_TOKEN_KEY"], "mcpbash/remoteToken"),
		Fallback:    "remoteToken",
		MaxFailures: env.count("MCPBASH_REMOTE_TOKEN_MAX_FAILURES_PER_MIN", 10),
	}
	if v, set := env["MCPBASH_REMOTE_TOKEN_FALLBACK_KEY"]; set {
		s.Token.Fallback = v
	}
	s.Calls = readCalls(env, output)
	s.Discovery = readDiscovery(env)
	s.Fetching = readFetching(env)
	s.EnvTimeout = env.seconds("MCPBASH_ENV_TIMEOUT", 30)
	return s
}

func readLogging(env Env, dirs Dirs) Logging {
	l := Logging{
		Verbose:       env.on("MCPBASH_LOG_VERBOSE"),
		Timestamp:     env.on("MCPBASH_LOG_TIMESTAMP"),
		Dir:           env["MCPBASH_LOG_DIR"],
		DebugPayloads: env.on("MCPBASH_DEBUG_PAYLOADS"),
	}
	switch env["MCPBASH_DEBUG_ERRORS"] {
	case "", "0", "false", "FALSE", "no", "off":
	default:
		l.DebugErrors = true
	}
	switch v := env["MCPBASH_LOG_LEVEL"]; {
	case v != "":
		l.Level, l.LevelSet = mcp.ParseLevelSetting(v), true
	case exists(filepath.Join(dirs.Server, ".debug")):
		l.Level, l.LevelSet, l.Marker = mcp.Debug, true, true
	default:
		l.Level = mcp.ParseLevelSetting(env["MCPBASH_LOG_LEVEL_DEFAULT"])
	}
	l.Quiet = env.on("MCPBASH_QUIET") || l.LevelSet && l.Level >= mcp.Err
	l.Startup = env.on("MCPBASH_LOG_STARTUP") || l.Verbose
	l.JSONTool = env["MCPBASH_LOG_JSON_TOOL"] == "log" || l.Verbose
	return l
}

func readSessions(env Env, ci bool) Sessions {
	s := Sessions{
		Idle:           env.seconds("MCPBASH_IDLE_TIMEOUT", defaultIdle),
		OrphanCheck:    Seconds(env.positive("MCPBASH_ORPHAN_CHECK_INTERVAL", 30)),
		Shutdown:       Seconds(env.positive("MCPBASH_SHUTDOWN_TIMEOUT", 5)),
		LiveProgress:   env["MCPBASH_ENABLE_LIVE_PROGRESS"] != "false",
		ProgressFlush:  env.fraction("MCPBASH_PROGRESS_FLUSH_INTERVAL", 50*time.Millisecond, 10*time.Millisecond),
		CompatBatches:  env.on("MCPBASH_COMPAT_BATCHES"),
		RootsTimeout:   env.seconds("MCPBASH_ROOTS_REQUEST_TIMEOUT", 5),
		RootsDebounce:  env.seconds("MCPBASH_ROOTS_DEBOUNCE_INTERVAL", 1),
		ParkedTTL:      Seconds(env.positive("MCPBASH_PARKED_CALL_TTL", 600)),
		MaxParkedCalls: env.positive("MCPBASH_MAX_PARKED_CALLS", 64),
	}
	if ci || env["MCPBASH_IDLE_TIMEOUT_ENABLED"] == "false" {
		s.Idle = 0
	}
	orphan := orphanDefault && !ci
	switch env["MCPBASH_ORPHAN_CHECK_ENABLED"] {
	case "true":
		orphan = !ci
	case "false":
		orphan = false
	}
	if !orphan {
		s.OrphanCheck = 0
	}
	return s
}

func readCalls(env Env, output int) Calls {
	t := Calls{
		Timeout:                 env.count("MCPBASH_DEFAULT_TOOL_TIMEOUT", 30),
		ProgressExtends:         env.on("MCPBASH_PROGRESS_EXTENDS_TIMEOUT"),
		MaxTimeout:              env.positive("MCPBASH_MAX_TIMEOUT_SECS", 600),
		TimeoutHint:             env["MCPBASH_TIMEOUT_HINT"],
		MaxStdout:               output,
		MaxStderr:               env.positive("MCPBASH_MAX_TOOL_STDERR_SIZE", output),
		StderrCapture:           env.flag("MCPBASH_TOOL_STDERR_CAPTURE", true),
		StderrTail:              env.count("MCPBASH_TOOL_STDERR_TAIL_LIMIT", 4096),
		TimeoutCapture:          env.flag("MCPBASH_TOOL_TIMEOUT_CAPTURE", true),
		StreamStderr:            env.on("MCPBASH_TOOL_STREAM_STDERR"),
		FailureIsError:          env["MCPBASH_TOOL_FAILURE_MODE"] == "error",
		CompletionTimeout:       env.count("MCPBASH_COMPLETION_TIMEOUT_SECS", 5),
		ListedCompletionTimeout: env.count("MCPBASH_COMPLETION_REGISTERED_TIMEOUT_SECS", 30),

		PayloadInline: min(env.count("MCPBASH_ENV_PAYLOAD_THRESHOLD", 65536), MaxInline),
		Trace:         env.flag("MCPBASH_TRACE_TOOLS", false),
		TracePS4:      or(env["MCPBASH_TRACE_PS4"], defaultPS4),
		TraceMax:      env.positive("MCPBASH_TRACE_MAX_BYTES", 1<<20),
		DebugLog:      env["MCPBASH_DEBUG_LOG"],
		Allowlist:     env.words("MCPBASH_TOOL_ALLOWLIST"),
		PolicyContext: env["MCPBASH_TOOL_POLICY_CONTEXT"],
		GithubActions: env.on("GITHUB_ACTIONS"),
	}
	t.AllowDefault = DefaultAllows(env["MCPBASH_TOOL_ALLOWLIST"], env["MCPBASH_TOOL_ALLOW_DEFAULT"])
	switch v := env["MCPBASH_TOOL_VALIDATE_ARGS"]; v {
	case "true", "false":
		t.Validate = v
	}
	return t
}

// DefaultAllows reports whether every tool may run, as MCPBASH_TOOL_ALLOW_DEFAULT says so and
// MCPBASH_TOOL_ALLOWLIST is not given. A list without a name in it allows no tool (T-21).
func DefaultAllows(allowlist, byDefault string) bool {
	return allowlist == "" && (byDefault == "allow" || byDefault == "all")
}

func readDiscovery(env Env) Discovery {
	d := Discovery{
		ToolsTTL:        env.seconds("MCP_TOOLS_TTL", 5),
		ResourcesTTL:    env.seconds("MCP_RESOURCES_TTL", 5),
		TemplatesTTL:    env.seconds("MCP_RESOURCES_TEMPLATES_TTL", 5),
		PromptsTTL:      env.seconds("MCP_PROMPTS_TTL", 5),
		UITTL:           env.seconds("MCP_UI_TTL", 5),
		RegisterTTL:     Seconds(env.positive("MCPBASH_REGISTER_TTL", 5)),
		RegisterTimeout: env.seconds("MCPBASH_REGISTER_TIMEOUT", 30),
		Hooks:           env.yes("MCPBASH_ALLOW_PROJECT_HOOKS"),
		MaxManual:       env.positive("MCPBASH_MAX_MANUAL_REGISTRY_BYTES", 1<<20),
		ManualBuffer:    env.count("MCPBASH_MANUAL_BUFFER_MAX_BYTES", 1<<20),
		Static:          env["MCPBASH_STATIC_REGISTRY"] == "1",
		MaxBytes:        env.positive("MCPBASH_REGISTRY_MAX_BYTES", registryMaxDef),
		SubPath:         env["MCPBASH_REGISTRY_REFRESH_PATH"],
		SecurityLevel:   env["MCPBASH_SECURITY_LEVEL"],
		Confine:         env["MCPBASH_CONFINE"],
	}
	return d
}

// relativeOverride: a program named by a relative path is ignored, and the
// dialect named with it (P-111).
func relativeOverride(env Env) bool {
	bin := env["MCPBASH_JSON_TOOL_BIN"]
	return bin != "" && !filepath.IsAbs(bin)
}

func or(value, def string) string {
	if value == "" {
		return def
	}
	return value
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist) && err == nil
}
