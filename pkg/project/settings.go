package project

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/wire/mcp"
)

// Settings are the settings that a server and run-tool read from the environment once. Package settings has the
// defaults and limits of the variables.
type Settings struct {
	Logging     Logging
	Limits      Limits
	Sessions    Sessions
	Tasks       Tasks
	Token       Token
	Calls       Calls
	Discovery   Discovery
	Fetching    Fetching
	TmpRoot     string // MCPBASH_TMP_ROOT, else TMPDIR, else /tmp; without a slash at the end
	CI          bool   // MCPBASH_CI_MODE
	Minimal     bool   // MCPBASH_FORCE_MINIMAL, or MCPBASH_JSON_TOOL=none
	Forced      bool   // MCPBASH_FORCE_MINIMAL
	Preserve    bool   // MCPBASH_PRESERVE_STATE
	KeepLogs    bool   // MCPBASH_KEEP_LOGS
	MaxResource int    // MCPBASH_MAX_RESOURCE_BYTES

	EnvTimeout time.Duration // of env.sh; 0: none. MCPBASH_ENV_TIMEOUT
}

// Logging configures log messages.
type Logging struct {
	Level         mcp.Level // MCPBASH_LOG_LEVEL, MCPBASH_LOG_LEVEL_DEFAULT (P-1301)
	LevelSet      bool      // by MCPBASH_LOG_LEVEL or the marker; scripts get the level too
	Marker        bool      // server.d/.debug exists, so the level is debug (P-108)
	Verbose       bool      // MCPBASH_LOG_VERBOSE: messages may contain paths and URIs
	Quiet         bool      // MCPBASH_QUIET, or a level of error and above (P-1306)
	Startup       bool      // MCPBASH_LOG_STARTUP, or Verbose (P-110)
	JSONTool      bool      // MCPBASH_LOG_JSON_TOOL=log, or Verbose (P-112)
	Timestamp     bool      // MCPBASH_LOG_TIMESTAMP
	Dir           string    // MCPBASH_LOG_DIR; "": none
	DebugPayloads bool      // MCPBASH_DEBUG_PAYLOADS
	DebugErrors   bool      // MCPBASH_DEBUG_ERRORS
}

// Limits limit messages and requests of the client (protocol section 27).
type Limits struct {
	Line         int // MCPBASH_MAX_LINE_BYTES
	Page         int // MCPBASH_PAGE_SIZE; 0: as the project declares
	Pending      int // MCPBASH_MAX_PENDING_BYTES
	Response     int // MCPBASH_MAX_TOOL_OUTPUT_SIZE
	ListResponse int // MCPBASH_REGISTRY_MAX_BYTES
	Read         int // of resources/read; a blob of MCPBASH_MAX_RESOURCE_BYTES fits if that is set (RES-47)
	Concurrent   int // MCPBASH_MAX_CONCURRENT_REQUESTS
	Progress     int // MCPBASH_MAX_PROGRESS_PER_MIN; 0: none
	Logs         int // MCPBASH_MAX_LOGS_PER_MIN; 0: none
}

// Sessions configures the connection to a client.
type Sessions struct {
	Idle           time.Duration // MCPBASH_IDLE_TIMEOUT; 0: none
	OrphanCheck    time.Duration // MCPBASH_ORPHAN_CHECK_INTERVAL; 0: no check
	Shutdown       time.Duration // MCPBASH_SHUTDOWN_TIMEOUT
	LiveProgress   bool          // MCPBASH_ENABLE_LIVE_PROGRESS
	ProgressFlush  time.Duration // MCPBASH_PROGRESS_FLUSH_INTERVAL
	CompatBatches  bool          // MCPBASH_COMPAT_BATCHES
	RootsTimeout   time.Duration // MCPBASH_ROOTS_REQUEST_TIMEOUT
	RootsDebounce  time.Duration // MCPBASH_ROOTS_DEBOUNCE_INTERVAL
	ParkedTTL      time.Duration // of a suspended call
	MaxParkedCalls int           // maximum number of suspended calls
}

// Tasks configures calls of long-running tools (contract page tasks).
type Tasks struct {
	After      time.Duration // MCPBASH_TASK_AFTER
	TTL        time.Duration // MCPBASH_TASK_TTL
	Max        int           // MCPBASH_MAX_TASKS
	MaxClient  int           // MCPBASH_MAX_CLIENT_TASKS
	MaxResults int           // bytes; MCPBASH_MAX_TASK_BYTES
}

// Token configures the shared secret of requests (protocol section 23).
type Token struct {
	Secret      string // MCPBASH_REMOTE_TOKEN; "": requests need none
	Key         string // MCPBASH_REMOTE_TOKEN_KEY
	Fallback    string // MCPBASH_REMOTE_TOKEN_FALLBACK_KEY; "": none
	MaxFailures int    // each minute; 0: no limit
}

// minToken is the minimum length of the secret (P-2300).
const minToken = 32

// Check returns an error if the secret is easy to guess (P-2300).
func (t *Token) Check() error {
	if t.Secret != "" && len(t.Secret) < minToken {
		return errors.New("mcp-bash: MCPBASH_REMOTE_TOKEN must be at least 32 characters; refusing weak shared secret")
	}
	return nil
}

// Calls configures how tools and completion scripts run (tools section 17).
type Calls struct {
	Timeout                 int // seconds; MCPBASH_DEFAULT_TOOL_TIMEOUT; 0: none
	LongTimeout             int // seconds; MCPBASH_TASK_TIMEOUT; 0: none
	ProgressExtends         bool
	MaxTimeout              int // seconds; MCPBASH_MAX_TIMEOUT_SECS
	TimeoutHint             string
	MaxStdout               int
	MaxStderr               int
	StderrCapture           bool
	StderrTail              int // bytes
	TimeoutCapture          bool
	StreamStderr            bool
	StderrTo                StderrTarget
	FailureIsError          bool   // MCPBASH_TOOL_FAILURE_MODE=error
	Validate                string // MCPBASH_TOOL_VALIDATE_ARGS: "true", "false" or ""
	Adjust                  bool   // MCPBASH_TOOL_ADJUST_ARGS
	CompletionTimeout       int    // seconds; MCPBASH_COMPLETION_TIMEOUT_SECS; 0: none
	ListedCompletionTimeout int    // seconds; MCPBASH_COMPLETION_REGISTERED_TIMEOUT_SECS; 0: none

	LargeResult    int // bytes; MCPBASH_LARGE_RESULT_BYTES; 0: never; -1: as the project declares
	LargeMax       int // bytes of one stored result
	LargeClientMax int // bytes of the stored results of a client
	LargeServerMax int // bytes of all stored results
	LargeKeep      time.Duration
	LargeSearch    string // MCPBASH_LARGE_RESULT_SEARCH: "true", "false" or ""

	PayloadInline int // bytes; MCPBASH_ENV_PAYLOAD_THRESHOLD
	Trace         bool
	TracePS4      string
	TraceMax      int // bytes
	DebugLog      string
	Allowlist     []string // MCPBASH_TOOL_ALLOWLIST
	AllowDefault  bool     // see DefaultAllows
	PolicyContext string   // MCPBASH_TOOL_POLICY_CONTEXT
	GithubActions bool     // GITHUB_ACTIONS
}

// Discovery configures how the registry finds a project's content (registry section 18).
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
	SecurityLevel   string // MCPBASH_SECURITY_LEVEL, unparsed
	Confine         string // MCPBASH_CONFINE, unparsed
}

// Fetching configures how resources are read and watched (resources section 24).
type Fetching struct {
	Timeout          time.Duration // of a provider script; 0: none. MCPBASH_PROVIDER_TIMEOUT
	UseRoots         bool          // MCPBASH_RESOURCES_USE_ROOTS
	Poll             time.Duration // between checks of watched resources; 0: none. MCPBASH_RESOURCES_POLL_INTERVAL_SECS
	SubscribeTimeout int           // seconds; MCPBASH_DEFAULT_SUBSCRIBE_TIMEOUT; 0: none
	SubscribeResult  string        // auto, id, empty: MCPBASH_SUBSCRIBE_RESULT
}

const (
	// MaxInline is the maximum length of a variable for a script, in bytes. The kernel limits one string of an
	// environment to 128 KiB (T-77).
	MaxInline = 120000

	// maxResponse limits each line to the client, in bytes, unless the environment allows more. One client closes
	// the connection at 10 MiB of a line (M-35).
	maxResponse = 9 << 20

	// minPoll keeps a very short interval from using a whole core.
	minPoll = 10 * time.Millisecond
)

// ReadSettings reads the settings of an environment. In CI mode it first sets the defaults of that mode in the
// environment, so that scripts see them too (P-303).
func ReadSettings(env Env, dirs Dirs) Settings {
	on := func(name string) bool { return settings.Bool(env, name) }
	if on("MCPBASH_CI_MODE") {
		applyCI(env)
	}
	output := settings.Int(env, "MCPBASH_MAX_TOOL_OUTPUT_SIZE")
	s := Settings{
		TmpRoot:     tmpRoot(env),
		CI:          on("MCPBASH_CI_MODE"),
		Forced:      on("MCPBASH_FORCE_MINIMAL"),
		Preserve:    on("MCPBASH_PRESERVE_STATE"),
		KeepLogs:    on("MCPBASH_KEEP_LOGS"),
		MaxResource: settings.IntOr(env, "MCPBASH_MAX_RESOURCE_BYTES", output),
		EnvTimeout:  settings.Duration(env, "MCPBASH_ENV_TIMEOUT"),
		Logging:     readLogging(env, dirs),
		Token:       readToken(env),
		Calls:       readCalls(env, output),
		Discovery:   readDiscovery(env),
		Fetching:    readFetching(env),
	}
	s.Minimal = s.Forced || env["MCPBASH_JSON_TOOL"] == "none" && !relativeOverride(env)
	if env["MCPBASH_LARGE_RESULT_BYTES"] == "" {
		s.Calls.LargeResult = -1
	}
	s.Limits = readLimits(env, s.MaxResource)
	s.Sessions = readSessions(env, s.CI)
	s.Tasks = Tasks{
		After:      settings.Duration(env, "MCPBASH_TASK_AFTER"),
		TTL:        settings.Duration(env, "MCPBASH_TASK_TTL"),
		Max:        settings.Int(env, "MCPBASH_MAX_TASKS"),
		MaxClient:  settings.Int(env, "MCPBASH_MAX_CLIENT_TASKS"),
		MaxResults: settings.Int(env, "MCPBASH_MAX_TASK_BYTES"),
	}
	return s
}

func readLimits(env Env, maxResource int) Limits {
	l := Limits{
		Line:         settings.Int(env, "MCPBASH_MAX_LINE_BYTES"),
		Page:         settings.IntOr(env, "MCPBASH_PAGE_SIZE", 0),
		Pending:      settings.Int(env, "MCPBASH_MAX_PENDING_BYTES"),
		Response:     settings.IntOr(env, "MCPBASH_MAX_TOOL_OUTPUT_SIZE", maxResponse),
		ListResponse: settings.IntOr(env, "MCPBASH_REGISTRY_MAX_BYTES", maxResponse),
		Read:         maxResponse,
		Concurrent:   settings.Int(env, "MCPBASH_MAX_CONCURRENT_REQUESTS"),
		Progress:     settings.Int(env, "MCPBASH_MAX_PROGRESS_PER_MIN"),
	}
	if env["MCPBASH_MAX_TOOL_OUTPUT_SIZE"] != "" || env["MCPBASH_MAX_RESOURCE_BYTES"] != "" {
		l.Read = max(l.Response, maxResource/3*4+64<<10)
	}
	if l.Logs = l.Progress; env["MCPBASH_MAX_LOGS_PER_MIN"] != "" {
		l.Logs = settings.IntOr(env, "MCPBASH_MAX_LOGS_PER_MIN", 100) // P-1500: not Progress if the value is invalid
	}
	return l
}

func readLogging(env Env, dirs Dirs) Logging {
	l := Logging{
		Verbose:       settings.Bool(env, "MCPBASH_LOG_VERBOSE"),
		Timestamp:     settings.Bool(env, "MCPBASH_LOG_TIMESTAMP"),
		Dir:           env["MCPBASH_LOG_DIR"],
		DebugPayloads: settings.Bool(env, "MCPBASH_DEBUG_PAYLOADS"),
		DebugErrors:   settings.Bool(env, "MCPBASH_DEBUG_ERRORS"),
	}
	switch v := env["MCPBASH_LOG_LEVEL"]; {
	case v != "":
		l.Level, l.LevelSet = mcp.ParseLevelSetting(v), true
	case exists(filepath.Join(dirs.Server, ".debug")):
		l.Level, l.LevelSet, l.Marker = mcp.Debug, true, true
	default:
		l.Level = mcp.ParseLevelSetting(env["MCPBASH_LOG_LEVEL_DEFAULT"])
	}
	l.Quiet = settings.Bool(env, "MCPBASH_QUIET") || l.LevelSet && l.Level >= mcp.Err
	l.Startup = settings.Bool(env, "MCPBASH_LOG_STARTUP") || l.Verbose
	l.JSONTool = settings.String(env, "MCPBASH_LOG_JSON_TOOL") == "log" || l.Verbose
	return l
}

func readToken(env Env) Token {
	t := Token{
		Secret:      env["MCPBASH_REMOTE_TOKEN"],
		Key:         settings.String(env, "MCPBASH_REMOTE_TOKEN_KEY"),
		Fallback:    settings.String(env, "MCPBASH_REMOTE_TOKEN_FALLBACK_KEY"),
		MaxFailures: settings.Int(env, "MCPBASH_REMOTE_TOKEN_MAX_FAILURES_PER_MIN"),
	}
	if v, set := env["MCPBASH_REMOTE_TOKEN_FALLBACK_KEY"]; set && v == "" {
		t.Fallback = ""
	}
	return t
}

func readSessions(env Env, ci bool) Sessions {
	seconds := func(name string) time.Duration { return settings.Duration(env, name) }
	s := Sessions{
		Idle:           seconds("MCPBASH_IDLE_TIMEOUT"),
		OrphanCheck:    seconds("MCPBASH_ORPHAN_CHECK_INTERVAL"),
		Shutdown:       seconds("MCPBASH_SHUTDOWN_TIMEOUT"),
		LiveProgress:   settings.Bool(env, "MCPBASH_ENABLE_LIVE_PROGRESS"),
		ProgressFlush:  seconds("MCPBASH_PROGRESS_FLUSH_INTERVAL"),
		CompatBatches:  settings.Bool(env, "MCPBASH_COMPAT_BATCHES"),
		RootsTimeout:   seconds("MCPBASH_ROOTS_REQUEST_TIMEOUT"),
		RootsDebounce:  seconds("MCPBASH_ROOTS_DEBOUNCE_INTERVAL"),
		ParkedTTL:      seconds("MCPBASH_PARKED_CALL_TTL"),
		MaxParkedCalls: settings.Int(env, "MCPBASH_MAX_PARKED_CALLS"),
	}
	if ci || !settings.Bool(env, "MCPBASH_IDLE_TIMEOUT_ENABLED") {
		s.Idle = 0
	}
	orphan := orphanDefault
	switch env["MCPBASH_ORPHAN_CHECK_ENABLED"] {
	case "true":
		orphan = true
	case "false":
		orphan = false
	}
	if ci || !orphan {
		s.OrphanCheck = 0
	}
	return s
}

func readCalls(env Env, output int) Calls {
	t := Calls{
		Timeout:                 settings.Int(env, "MCPBASH_DEFAULT_TOOL_TIMEOUT"),
		LongTimeout:             settings.Int(env, "MCPBASH_TASK_TIMEOUT"),
		ProgressExtends:         settings.Bool(env, "MCPBASH_PROGRESS_EXTENDS_TIMEOUT"),
		MaxTimeout:              settings.Int(env, "MCPBASH_MAX_TIMEOUT_SECS"),
		TimeoutHint:             env["MCPBASH_TIMEOUT_HINT"],
		MaxStdout:               output,
		MaxStderr:               settings.IntOr(env, "MCPBASH_MAX_TOOL_STDERR_SIZE", output),
		StderrCapture:           settings.Bool(env, "MCPBASH_TOOL_STDERR_CAPTURE"),
		StderrTail:              settings.Int(env, "MCPBASH_TOOL_STDERR_TAIL_LIMIT"),
		TimeoutCapture:          settings.Bool(env, "MCPBASH_TOOL_TIMEOUT_CAPTURE"),
		StreamStderr:            settings.Bool(env, "MCPBASH_TOOL_STREAM_STDERR"),
		StderrTo:                stderrTarget(env),
		FailureIsError:          settings.String(env, "MCPBASH_TOOL_FAILURE_MODE") == "error",
		CompletionTimeout:       settings.Int(env, "MCPBASH_COMPLETION_TIMEOUT_SECS"),
		ListedCompletionTimeout: settings.Int(env, "MCPBASH_COMPLETION_REGISTERED_TIMEOUT_SECS"),

		LargeResult:    settings.IntOr(env, "MCPBASH_LARGE_RESULT_BYTES", 0),
		LargeMax:       settings.Int(env, "MCPBASH_LARGE_RESULT_MAX_BYTES"),
		LargeClientMax: settings.Int(env, "MCPBASH_LARGE_RESULT_SESSION_BYTES"),
		LargeServerMax: settings.Int(env, "MCPBASH_LARGE_RESULT_SERVER_BYTES"),
		LargeKeep:      settings.Duration(env, "MCPBASH_LARGE_RESULT_TTL"),

		PayloadInline: settings.Int(env, "MCPBASH_ENV_PAYLOAD_THRESHOLD"),
		Adjust:        settings.Bool(env, "MCPBASH_TOOL_ADJUST_ARGS"),
		Trace:         settings.Bool(env, "MCPBASH_TRACE_TOOLS"),
		TracePS4:      settings.String(env, "MCPBASH_TRACE_PS4"),
		TraceMax:      settings.Int(env, "MCPBASH_TRACE_MAX_BYTES"),
		DebugLog:      env["MCPBASH_DEBUG_LOG"],
		Allowlist:     settings.Words(env["MCPBASH_TOOL_ALLOWLIST"]),
		AllowDefault:  DefaultAllows(env["MCPBASH_TOOL_ALLOWLIST"], env["MCPBASH_TOOL_ALLOW_DEFAULT"]),
		PolicyContext: env["MCPBASH_TOOL_POLICY_CONTEXT"],
		GithubActions: settings.Bool(env, "GITHUB_ACTIONS"),
	}
	if v := env["MCPBASH_LARGE_RESULT_SEARCH"]; v == "true" || v == "false" {
		t.LargeSearch = v
	}
	switch v := env["MCPBASH_TOOL_VALIDATE_ARGS"]; v {
	case "true", "false":
		t.Validate = v
	}
	return t
}

// DefaultAllows reports whether every tool may run: MCPBASH_TOOL_ALLOW_DEFAULT permits it, and MCPBASH_TOOL_ALLOWLIST
// is empty. A list without names allows no tool (T-21).
func DefaultAllows(allowlist, byDefault string) bool {
	return allowlist == "" && (byDefault == "allow" || byDefault == "all")
}

func readDiscovery(env Env) Discovery {
	seconds := func(name string) time.Duration { return settings.Duration(env, name) }
	return Discovery{
		ToolsTTL:        seconds("MCP_TOOLS_TTL"),
		ResourcesTTL:    seconds("MCP_RESOURCES_TTL"),
		TemplatesTTL:    seconds("MCP_RESOURCES_TEMPLATES_TTL"),
		PromptsTTL:      seconds("MCP_PROMPTS_TTL"),
		UITTL:           seconds("MCP_UI_TTL"),
		RegisterTTL:     seconds("MCPBASH_REGISTER_TTL"),
		RegisterTimeout: seconds("MCPBASH_REGISTER_TIMEOUT"),
		Hooks:           settings.Bool(env, "MCPBASH_ALLOW_PROJECT_HOOKS"),
		MaxManual:       settings.Int(env, "MCPBASH_MAX_MANUAL_REGISTRY_BYTES"),
		ManualBuffer:    settings.Int(env, "MCPBASH_MANUAL_BUFFER_MAX_BYTES"),
		Static:          env["MCPBASH_STATIC_REGISTRY"] == "1",
		MaxBytes:        settings.Int(env, "MCPBASH_REGISTRY_MAX_BYTES"),
		SubPath:         env["MCPBASH_REGISTRY_REFRESH_PATH"],
		SecurityLevel:   env["MCPBASH_SECURITY_LEVEL"],
		Confine:         env["MCPBASH_CONFINE"],
	}
}

func readFetching(env Env) Fetching {
	f := Fetching{
		Timeout:          settings.Duration(env, "MCPBASH_PROVIDER_TIMEOUT"),
		UseRoots:         settings.Bool(env, "MCPBASH_RESOURCES_USE_ROOTS"),
		Poll:             settings.Duration(env, "MCPBASH_RESOURCES_POLL_INTERVAL_SECS"),
		SubscribeTimeout: settings.Int(env, "MCPBASH_DEFAULT_SUBSCRIBE_TIMEOUT"),
		SubscribeResult:  settings.String(env, "MCPBASH_SUBSCRIBE_RESULT"),
	}
	if f.Poll > 0 {
		f.Poll = max(f.Poll, minPoll)
	}
	return f
}

// relativeOverride reports whether MCPBASH_JSON_TOOL_BIN is a relative path. It is ignored then, with
// MCPBASH_JSON_TOOL (P-111).
func relativeOverride(env Env) bool {
	bin := env["MCPBASH_JSON_TOOL_BIN"]
	return bin != "" && !filepath.IsAbs(bin)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
