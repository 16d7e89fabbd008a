package project

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/wire/mcp"
)

// Settings are the settings that a server and run-tool read from the environment once. Package settings declares the
// variables that the tags name.
type Settings struct {
	Logging   Logging
	Limits    Limits
	Sessions  Sessions
	Tasks     Tasks
	Token     Token
	Calls     Calls
	Discovery Discovery
	Fetching  Fetching
	Audit     Audit

	TmpRoot     string        // MCPBASH_TMP_ROOT, else TMPDIR, else /tmp; without a slash at the end
	CI          bool          `env:"MCPBASH_CI_MODE"`
	Forced      bool          `env:"MCPBASH_FORCE_MINIMAL"`
	Minimal     bool          // Forced, or MCPBASH_JSON_TOOL=none
	Preserve    bool          `env:"MCPBASH_PRESERVE_STATE"`
	KeepLogs    bool          `env:"MCPBASH_KEEP_LOGS"`
	MaxResource int           // MCPBASH_MAX_RESOURCE_BYTES, else MCPBASH_MAX_TOOL_OUTPUT_SIZE
	EnvTimeout  time.Duration `env:"MCPBASH_ENV_TIMEOUT"` // of env.sh; 0: none
}

// Logging configures log messages.
type Logging struct {
	Level         mcp.Level // MCPBASH_LOG_LEVEL, MCPBASH_LOG_LEVEL_DEFAULT
	LevelSet      bool      // by MCPBASH_LOG_LEVEL or the marker; scripts get the level too
	Marker        bool      // server.d/.debug exists, so the level is debug
	Verbose       bool      `env:"MCPBASH_LOG_VERBOSE"` // messages may contain paths and URIs
	Quiet         bool      `env:"MCPBASH_QUIET"`       // or a level of error and above
	Startup       bool      `env:"MCPBASH_LOG_STARTUP"` // or Verbose
	JSONTool      bool      // MCPBASH_LOG_JSON_TOOL=log, or Verbose
	Timestamp     bool      `env:"MCPBASH_LOG_TIMESTAMP"`
	Dir           string    `env:"MCPBASH_LOG_DIR"` // "": none
	DebugPayloads bool      `env:"MCPBASH_DEBUG_PAYLOADS"`
	DebugErrors   bool      `env:"MCPBASH_DEBUG_ERRORS"`
}

// Audit configures the record of what the server does for whom (contract page audit).
type Audit struct {
	To        string `env:"MCPBASH_AUDIT"`
	Mode      string `env:"MCPBASH_AUDIT_MODE"`
	Arguments string `env:"MCPBASH_AUDIT_ARGUMENTS"`
	Sync      string `env:"MCPBASH_AUDIT_SYNC"`
	MaxBytes  int    `env:"MCPBASH_AUDIT_MAX_BYTES"`
	Files     int    `env:"MCPBASH_AUDIT_FILES"`
	Key       string `env:"MCPBASH_AUDIT_KEY"`
}

// Limits limit messages and requests of the client (protocol section 27).
type Limits struct {
	Line         int `env:"MCPBASH_MAX_LINE_BYTES"`
	Page         int `env:"MCPBASH_PAGE_SIZE"` // 0: as the project declares
	Pending      int `env:"MCPBASH_MAX_PENDING_BYTES"`
	Response     int // MCPBASH_MAX_TOOL_OUTPUT_SIZE
	ListResponse int // MCPBASH_REGISTRY_MAX_BYTES
	Read         int // of resources/read; a blob of MCPBASH_MAX_RESOURCE_BYTES fits if that is set
	Concurrent   int `env:"MCPBASH_MAX_CONCURRENT_REQUESTS"`
	Progress     int `env:"MCPBASH_MAX_PROGRESS_PER_MIN"` // 0: none
	Logs         int // MCPBASH_MAX_LOGS_PER_MIN; 0: none
}

// Sessions configures the connection to a client.
type Sessions struct {
	Idle           time.Duration `env:"MCPBASH_IDLE_TIMEOUT"`          // 0: none
	OrphanCheck    time.Duration `env:"MCPBASH_ORPHAN_CHECK_INTERVAL"` // 0: no check
	Shutdown       time.Duration `env:"MCPBASH_SHUTDOWN_TIMEOUT"`
	LiveProgress   bool          `env:"MCPBASH_ENABLE_LIVE_PROGRESS"`
	ProgressFlush  time.Duration `env:"MCPBASH_PROGRESS_FLUSH_INTERVAL"`
	CompatBatches  bool          `env:"MCPBASH_COMPAT_BATCHES"`
	RootsTimeout   time.Duration `env:"MCPBASH_ROOTS_REQUEST_TIMEOUT"`
	RootsDebounce  time.Duration `env:"MCPBASH_ROOTS_DEBOUNCE_INTERVAL"`
	ParkedTTL      time.Duration `env:"MCPBASH_PARKED_CALL_TTL"`  // of a suspended call
	MaxParkedCalls int           `env:"MCPBASH_MAX_PARKED_CALLS"` // maximum number of suspended calls
}

// Tasks configures calls of long-running tools (contract page tasks).
type Tasks struct {
	After      time.Duration `env:"MCPBASH_TASK_AFTER"`
	TTL        time.Duration `env:"MCPBASH_TASK_TTL"`
	Max        int           `env:"MCPBASH_MAX_TASKS"`
	MaxClient  int           `env:"MCPBASH_MAX_CLIENT_TASKS"`
	MaxResults int           `env:"MCPBASH_MAX_TASK_BYTES"`
}

// Token configures the shared secret of requests (protocol section 23).
type Token struct {
	Secret      string `env:"MCPBASH_REMOTE_TOKEN"` // "": requests need none
	Key         string `env:"MCPBASH_REMOTE_TOKEN_KEY"`
	Fallback    string `env:"MCPBASH_REMOTE_TOKEN_FALLBACK_KEY"`         // "": none
	MaxFailures int    `env:"MCPBASH_REMOTE_TOKEN_MAX_FAILURES_PER_MIN"` // 0: no limit
}

// minToken is the minimum length of the secret.
const minToken = 32

// Check returns an error if the secret is easy to guess.
func (t *Token) Check() error {
	if t.Secret != "" && len(t.Secret) < minToken {
		return errors.New("mcp-bash: MCPBASH_REMOTE_TOKEN must be at least 32 characters; refusing weak shared secret")
	}
	return nil
}

// Calls configures how tools and completion scripts run.
type Calls struct {
	Timeout                 int    `env:"MCPBASH_DEFAULT_TOOL_TIMEOUT"` // seconds; 0: none
	LongTimeout             int    `env:"MCPBASH_TASK_TIMEOUT"`         // seconds; 0: none
	ProgressExtends         bool   `env:"MCPBASH_PROGRESS_EXTENDS_TIMEOUT"`
	MaxTimeout              int    `env:"MCPBASH_MAX_TIMEOUT_SECS"` // seconds
	TimeoutHint             string `env:"MCPBASH_TIMEOUT_HINT"`
	MaxStdout               int    `env:"MCPBASH_MAX_TOOL_OUTPUT_SIZE"`
	MaxStderr               int    // MCPBASH_MAX_TOOL_STDERR_SIZE, else MaxStdout
	StderrCapture           bool   `env:"MCPBASH_TOOL_STDERR_CAPTURE"`
	StderrTail              int    `env:"MCPBASH_TOOL_STDERR_TAIL_LIMIT"` // bytes
	TimeoutCapture          bool   `env:"MCPBASH_TOOL_TIMEOUT_CAPTURE"`
	StreamStderr            bool   `env:"MCPBASH_TOOL_STREAM_STDERR"`
	StderrTo                StderrTarget
	FailureIsError          bool   // MCPBASH_TOOL_FAILURE_MODE=error
	Validate                string `env:"MCPBASH_TOOL_VALIDATE_ARGS"` // "true", "false" or ""
	Adjust                  bool   `env:"MCPBASH_TOOL_ADJUST_ARGS"`
	CompletionTimeout       int    `env:"MCPBASH_COMPLETION_TIMEOUT_SECS"`            // seconds; 0: none
	ListedCompletionTimeout int    `env:"MCPBASH_COMPLETION_REGISTERED_TIMEOUT_SECS"` // seconds; 0: none

	LargeResult    int           `env:"MCPBASH_LARGE_RESULT_BYTES"` // 0: never; -1: as the project declares
	LargeMax       int           `env:"MCPBASH_LARGE_RESULT_MAX_BYTES"`
	LargeClientMax int           `env:"MCPBASH_LARGE_RESULT_SESSION_BYTES"`
	LargeServerMax int           `env:"MCPBASH_LARGE_RESULT_SERVER_BYTES"`
	LargeKeep      time.Duration `env:"MCPBASH_LARGE_RESULT_TTL"`
	LargeSearch    string        `env:"MCPBASH_LARGE_RESULT_SEARCH"` // "true", "false" or ""

	PayloadInline int      `env:"MCPBASH_ENV_PAYLOAD_THRESHOLD"` // bytes
	Trace         bool     `env:"MCPBASH_TRACE_TOOLS"`
	TracePS4      string   `env:"MCPBASH_TRACE_PS4"`
	TraceMax      int      `env:"MCPBASH_TRACE_MAX_BYTES"`
	DebugLog      string   `env:"MCPBASH_DEBUG_LOG"`
	Allowlist     []string `env:"MCPBASH_TOOL_ALLOWLIST"`
	AllowDefault  bool     // see DefaultAllows
	PolicyContext string   `env:"MCPBASH_TOOL_POLICY_CONTEXT"`
	GithubActions bool     `env:"GITHUB_ACTIONS"`
}

// Discovery configures how the registry finds a project's content.
type Discovery struct {
	ToolsTTL        time.Duration `env:"MCP_TOOLS_TTL"`
	ResourcesTTL    time.Duration `env:"MCP_RESOURCES_TTL"`
	TemplatesTTL    time.Duration `env:"MCP_RESOURCES_TEMPLATES_TTL"`
	PromptsTTL      time.Duration `env:"MCP_PROMPTS_TTL"`
	UITTL           time.Duration `env:"MCP_UI_TTL"`
	RegisterTTL     time.Duration `env:"MCPBASH_REGISTER_TTL"`
	RegisterTimeout time.Duration `env:"MCPBASH_REGISTER_TIMEOUT"` // 0: none
	Hooks           bool          `env:"MCPBASH_ALLOW_PROJECT_HOOKS"`
	MaxManual       int           `env:"MCPBASH_MAX_MANUAL_REGISTRY_BYTES"`
	ManualBuffer    int           `env:"MCPBASH_MANUAL_BUFFER_MAX_BYTES"` // 0: none
	Static          bool          // MCPBASH_STATIC_REGISTRY=1
	MaxBytes        int           `env:"MCPBASH_REGISTRY_MAX_BYTES"`
	SubPath         string        `env:"MCPBASH_REGISTRY_REFRESH_PATH"`
	SecurityLevel   string        `env:"MCPBASH_SECURITY_LEVEL"` // unparsed
	Confine         string        `env:"MCPBASH_CONFINE"`        // unparsed
}

// Fetching configures how resources are read and watched.
type Fetching struct {
	Timeout          time.Duration `env:"MCPBASH_PROVIDER_TIMEOUT"` // of a provider script; 0: none
	UseRoots         bool          `env:"MCPBASH_RESOURCES_USE_ROOTS"`
	Poll             time.Duration `env:"MCPBASH_RESOURCES_POLL_INTERVAL_SECS"` // of watched resources; 0: none
	SubscribeTimeout int           `env:"MCPBASH_DEFAULT_SUBSCRIBE_TIMEOUT"`    // seconds; 0: none
	SubscribeResult  string        `env:"MCPBASH_SUBSCRIBE_RESULT"`             // auto, id, empty
}

const (
	// MaxInline is the maximum length of a variable for a script, in bytes. The kernel limits one string of an
	// environment to 128 KiB.
	MaxInline = 120000

	// maxResponse limits each line to the client, in bytes, unless the environment allows more. One client closes the
	// connection at 10 MiB of a line.
	maxResponse = 9 << 20

	// minPoll keeps a very short interval from using a whole core.
	minPoll = 10 * time.Millisecond
)

// ReadSettings reads the settings of an environment. In CI mode it first sets the defaults of that mode in the
// environment, so that scripts see them too.
func ReadSettings(env Env, dirs Dirs) (s Settings) {
	if settings.Bool(env, "MCPBASH_CI_MODE") {
		applyCI(env)
	}
	settings.Fill(env, &s)
	s.TmpRoot = tmpRoot(env)
	s.Minimal = s.Forced || env["MCPBASH_JSON_TOOL"] == "none" && !relativeOverride(env)
	s.MaxResource = settings.IntOr(env, "MCPBASH_MAX_RESOURCE_BYTES", s.Calls.MaxStdout)
	s.Limits.derive(env, s.MaxResource)
	s.Logging.derive(env, dirs)
	s.Calls.derive(env)
	if v, set := env["MCPBASH_REMOTE_TOKEN_FALLBACK_KEY"]; set && v == "" {
		s.Token.Fallback = ""
	}
	if s.CI || !settings.Bool(env, "MCPBASH_IDLE_TIMEOUT_ENABLED") {
		s.Sessions.Idle = 0
	}
	check := cmp.Or(settings.String(env, "MCPBASH_ORPHAN_CHECK_ENABLED"), orphanDefault)
	if s.CI || check == "false" {
		s.Sessions.OrphanCheck = 0
	}
	s.Discovery.Static = env["MCPBASH_STATIC_REGISTRY"] == "1"
	if s.Fetching.Poll > 0 {
		s.Fetching.Poll = max(s.Fetching.Poll, minPoll)
	}
	return s
}

func (l *Limits) derive(env Env, maxResource int) {
	l.Response = settings.IntOr(env, "MCPBASH_MAX_TOOL_OUTPUT_SIZE", maxResponse)
	l.ListResponse = settings.IntOr(env, "MCPBASH_REGISTRY_MAX_BYTES", maxResponse)
	l.Read = maxResponse
	if env["MCPBASH_MAX_TOOL_OUTPUT_SIZE"] != "" || env["MCPBASH_MAX_RESOURCE_BYTES"] != "" {
		l.Read = max(l.Response, maxResource/3*4+64<<10)
	}
	if l.Logs = l.Progress; env["MCPBASH_MAX_LOGS_PER_MIN"] != "" {
		l.Logs = settings.IntOr(env, "MCPBASH_MAX_LOGS_PER_MIN", 100) // P-1500: not Progress if the value is invalid
	}
}

func (l *Logging) derive(env Env, dirs Dirs) {
	switch v := env["MCPBASH_LOG_LEVEL"]; {
	case v != "":
		l.Level, l.LevelSet = mcp.ParseLevelSetting(v), true
	case exists(filepath.Join(dirs.Server, ".debug")):
		l.Level, l.LevelSet, l.Marker = mcp.Debug, true, true
	default:
		l.Level = mcp.ParseLevelSetting(env["MCPBASH_LOG_LEVEL_DEFAULT"])
	}
	l.Quiet = l.Quiet || l.LevelSet && l.Level >= mcp.Err
	l.Startup = l.Startup || l.Verbose
	l.JSONTool = settings.String(env, "MCPBASH_LOG_JSON_TOOL") == "log" || l.Verbose
}

func (c *Calls) derive(env Env) {
	c.MaxStderr = settings.IntOr(env, "MCPBASH_MAX_TOOL_STDERR_SIZE", c.MaxStdout)
	c.StderrTo = stderrTarget(env)
	c.FailureIsError = settings.String(env, "MCPBASH_TOOL_FAILURE_MODE") == "error"
	c.AllowDefault = DefaultAllows(env["MCPBASH_TOOL_ALLOWLIST"], env["MCPBASH_TOOL_ALLOW_DEFAULT"])
	if env["MCPBASH_LARGE_RESULT_BYTES"] == "" {
		c.LargeResult = -1
	}
}

// DefaultAllows reports whether every tool may run: MCPBASH_TOOL_ALLOW_DEFAULT permits it, and MCPBASH_TOOL_ALLOWLIST
// is empty. A list without names allows no tool.
func DefaultAllows(allowlist, byDefault string) bool {
	return allowlist == "" && (byDefault == "allow" || byDefault == "all")
}

// relativeOverride reports whether MCPBASH_JSON_TOOL_BIN is a relative path. It is ignored then, with
// MCPBASH_JSON_TOOL.
func relativeOverride(env Env) bool {
	bin := env["MCPBASH_JSON_TOOL_BIN"]
	return bin != "" && !filepath.IsAbs(bin)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// A StderrTarget has the receivers of the standard error of scripts, apart from the reason of a failure.
type StderrTarget struct {
	Client bool // members of results and of errors
	Log    bool // the standard error of the server
}

// stderrTarget reads MCPBASH_TOOL_STDERR for a server whose client is the operator.
func stderrTarget(env Env) StderrTarget {
	value := settings.String(env, "MCPBASH_TOOL_STDERR")
	return StderrTarget{Client: value != "log", Log: value == "log" || value == "both"}
}

// maxReason is the maximum length of a reason for clients that may not see all of standard error, in bytes.
const maxReason = 1 << 10

// Reason returns the part of standard error that the client of a failed script gets as the reason. If the client may
// not see all of standard error, the result is its last lines, without secrets.
func (s StderrTarget) Reason(stderr string) string {
	if s.Client {
		return stderr
	}
	if cut := len(stderr) - maxReason; cut > 0 {
		stderr = stderr[cut:]
		if _, rest, ok := strings.Cut(stderr, "\n"); ok {
			stderr = rest
		}
		stderr = strings.ToValidUTF8(stderr, "")
	}
	return secrets.Text(stderr)
}

// OverHTTP is the value of MCPBASH_TOOL_POLICY_CONTEXT in a server over HTTP. Its clients do not configure it.
const OverHTTP = "http"

// ServeStrangers sets the other defaults of a server whose clients may be others than the operator.
func (s *Settings) ServeStrangers(env Env) {
	s.Calls.PolicyContext = OverHTTP
	if settings.String(env, "MCPBASH_TOOL_STDERR") == "auto" {
		s.Calls.StderrTo = StderrTarget{Log: true}
	}
}
