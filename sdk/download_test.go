package sdk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/sdk"
)

// notFetched is a failure of mcp_download_safe.
func notFetched(kind, message string) outcome {
	return out(fmt.Sprintf(`{"success":false,"error":{"type":%q,"message":%s}}`, kind, rawjson.Quote(message)))
}

func TestDownloadChecks(t *testing.T) {
	t.Parallel()
	const good = `--url https://x/y --out f `
	var rows []row
	for _, c := range [][3]string{
		{`--alow x`, "invalid_params", "Unknown option: --alow"},
		{`x --alow`, "invalid_params", "Unexpected argument: x"},
		{`--out f`, "invalid_url", "--url is required"},
		{`--url ''`, "invalid_url", "--url is required"},
		{`--url http://x`, "invalid_params", "--out is required"},
		{`--url http://x --out f`, "invalid_url", "URL must use https://"},
		{`--url ftp://x --out f --timeout x`, "invalid_url", "URL must use https://"},
		{good + `--max-bytes x`, "invalid_params", "--max-bytes must be a positive integer"},
		{good + `--max-bytes 0`, "invalid_params", "--max-bytes must be a positive integer"},
		{good + `--timeout 1.5`, "invalid_params", "--timeout must be a positive integer"},
		{good + `--timeout 61`, "invalid_params", "--timeout cannot exceed 60 seconds"},
		{good + `--timeout 99999999999999999999`, "invalid_params", "--timeout cannot exceed 60 seconds"},
		{good + `--retry 0`, "invalid_params", "--retry must be a positive integer"},
		{good + `--retries x`, "invalid_params", "--retry must be a positive integer"},
		{good + `--retry-delay x`, "invalid_params", "--retry-delay must be a number (e.g., 0.5, 1, 2.0)"},
		{`--url`, "invalid_params", "--url requires a value"},
		{good + `--allow`, "invalid_params", "--allow requires a value"},
		{good + `--allow a --allow ''`, "invalid_params", "--allow requires a host"},
		{good + `--deny ''`, "invalid_params", "--deny requires a host"},
	} {
		rows = append(rows, row{"SDK-161", tool{script: "mcp_download_safe " + c[0]}, notFetched(c[1], c[2]), ""})
	}
	rows = append(rows, []row{
		{"SDK-165", tool{script: `mcp_download_safe_or_fail --url http://x --out f`},
			rejected("Download failed (invalid_url): URL must use https://"), ""},
		{"SDK-165", tool{env: []string{"MCPBASH_MODE=minimal"},
			script: `mcp_download_safe_or_fail --url http://x --out f`},
			rejected("Download failed (minimal mode - cannot parse error details)"), ""},
	}...)
	check(t, []way{byTable}, rows)
	check(t, []way{byJSONTool}, []row{
		{"SDK-161", tool{script: "mcp_download_safe " + good}, notFetched("provider_unavailable",
			"HTTPS provider not found"), ""},
	})
}

func TestDownload(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		clause, provider, options string
		want                      outcome
		file                      string // content of the file, or "-" for no file
		tries                     int
	}{
		{"SDK-160", `printf 'bo\0dy\n'`, ``, out(`{"success":true,"bytes":6,"path":"o \"1\""}`), "bo\x00dy\n", 1},
		{"SDK-160", `:`, ``, out(`{"success":true,"bytes":0,"path":"o \"1\""}`), "", 1},
		{"SDK-162", `echo partial; exit 4`, `--retry 3 --retry-delay 0`,
			notFetched("host_blocked", "Host blocked by policy"), "-", 1},
		{"SDK-162", `exit 5`, ``, notFetched("network_error", "Network request failed"), "-", 1},
		{"SDK-162", `printf 'no\troute\r\nto \033host' >&2; exit 5`, `--retry 3 --retry-delay 0`,
			notFetched("network_error", "Network request failed: no route  to host"), "-", 3},
		{"SDK-162", `exit 6`, `--retries 2`, notFetched("size_exceeded", "Response exceeds max-bytes limit"), "-", 1},
		{"SDK-162", `printf 'note\nredirect:https://z/a"b\r\nredirect:no\n' >&2; exit 7`, ``,
			out(`{"success":false,"error":{"type":"redirect","location":"https://z/a\"b","message":"URL redirects - use ` +
				`canonical URL or add target to allowlist"}}`), "-", 1},
		{"SDK-162", `exit 7`, ``, notFetched("redirect", "URL redirects but location unavailable"), "-", 1},
		{"SDK-162", `echo oops >&2; exit 1`, ``, notFetched("provider_error", "Provider failed (exit 1): oops"), "-",
			1},
		{"SDK-162", `exit 127`, ``, notFetched("provider_error", "Provider failed with exit code 127"), "-", 1},
		{"SDK-162", `echo oops >&2; exit 9`, ``, notFetched("provider_error", "Unexpected error (exit 9): oops"), "-",
			1},
		{"SDK-162", `exit 9`, ``, notFetched("provider_error", "Unexpected error with exit code 9"), "-", 1},
		{"SDK-162", `printf '%300s' x >&2; exit 5`, ``, notFetched("network_error",
			"Network request failed: "+strings.Repeat(" ", 200)), "-", 1},
		{"SDK-164", `(($(wc -l <tries) > 2)) || exit 5; echo ok`, `--retry 5 --retry-delay .001`,
			out(`{"success":true,"bytes":3,"path":"o \"1\""}`), "ok\n", 3},
		{"SDK-161", `echo x`, `--out none/x`, notFetched("write_error", "Could not write to output path"), "-", 1},
	} {
		t.Run(c.clause+"/"+c.provider, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "home/providers/https.sh"), "echo \"$1\" >>tries\n"+c.provider+"\n")
			got := tool{dir: dir, env: []string{"MCPBASH_HOME=" + dir + "/home", "TMPDIR=" + dir},
				script: `mcp_download_safe --url https://h/p --out 'o "1"' ` + c.options}.run(t)
			if got != c.want {
				t.Errorf("%s: %+v, want %+v", c.clause, got, c.want)
			}
			if text, err := os.ReadFile(filepath.Join(dir, `o "1"`)); err != nil && c.file != "-" ||
				err == nil && string(text) != c.file {
				t.Errorf("%s: file %q %v", c.clause, text, err)
			}
			if tries := strings.Count(read(t, filepath.Join(dir, "tries")), "https://h/p\n"); tries != c.tries {
				t.Errorf("%s: %d tries", c.clause, tries)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "mcp-sdk.*")); len(left) > 0 {
				t.Errorf("%s: left behind %v", c.clause, left)
			}
		})
	}
}

func TestDownloadProvider(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "home/VERSION"), "9.8.7\nmore\n")
	write(t, filepath.Join(dir, "home/providers/https.sh"),
		`for n in ALLOW_HOSTS DENY_HOSTS MAX_BYTES TIMEOUT USER_AGENT; do v=MCPBASH_HTTPS_$n; echo "$n=${!v-unset}"; done`)
	run := func(options string, env ...string) string {
		got := tool{dir: dir, env: append([]string{"MCPBASH_HOME=" + dir + "/home"}, env...),
			script: `mcp_download_safe_or_fail --url https://h --out o ` + options}.run(t)
		if got != out("o") {
			t.Errorf("SDK-165: %+v", got)
		}
		return read(t, filepath.Join(dir, "o"))
	}
	if got, want := run(``, "MCPBASH_HTTPS_TIMEOUT=7"),
		"ALLOW_HOSTS=unset\nDENY_HOSTS=unset\nMAX_BYTES=unset\nTIMEOUT=7\n"+
			"USER_AGENT=mcpbash/9.8.7 (tool-sdk)\n"; got != want {
		t.Errorf("SDK-163: %s", got)
	}
	if got, want := run(`--allow a --allow b.c --deny d --max-bytes 5 --timeout 60 --user-agent 'me 1'`,
		"MCPBASH_HTTPS_TIMEOUT=7"),
		"ALLOW_HOSTS=a,b.c\nDENY_HOSTS=d\nMAX_BYTES=5\nTIMEOUT=60\nUSER_AGENT=me 1\n"; got != want {
		t.Errorf("SDK-163: %s", got)
	}
	got := tool{dir: dir, env: []string{"MCPBASH_HOME=" + dir + "/home"},
		script: `mcp_download_safe_or_fail --url https://h --out $'t\tn\nx'`}.run(t)
	if got != out("t n x") {
		t.Errorf("SDK-165: %+v", got)
	}
	// The provider script in the directory of the SDK, with only our program.
	beside := filepath.Join(dir, "beside")
	if err := os.CopyFS(filepath.Join(beside, "sdk"), sdk.Files); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(beside, "providers/https.sh"), "echo beside\n")
	got = tool{dir: dir, env: []string{"MCP_SDK=" + beside + "/sdk"},
		script: `mcp_download_safe --url https://h --out o; cat o`}.run(t)
	if got != out(`{"success":true,"bytes":7,"path":"o"}beside`+"\n") {
		t.Errorf("SDK-163: %+v", got)
	}
	got = tool{dir: dir, script: `mcp_download_safe --url https://h --out p; [[ ! -e p ]]`}.run(t)
	if got != notFetched("host_blocked", "Host blocked by policy") {
		t.Errorf("SDK-161: %+v", got)
	}
	got = tool{dir: dir, env: []string{"MCPBASH_HOME=" + dir + "/home", "TMPDIR=" + absentDir},
		script: `mcp_download_safe --url https://h --out p`}.run(t)
	if got != notFetched("write_error", "Could not create temp file") {
		t.Errorf("SDK-161: %+v", got)
	}
	got = tool{dir: dir, env: []string{"MCPBASH_HOME=" + dir + "/home"},
		script: `trap 'echo exit' EXIT; mcp_download_safe --url https://h --out q >/dev/null; trap`}.run(t)
	if got != out("trap -- 'echo exit' EXIT\nexit\n") {
		t.Errorf("SDK-164: %+v", got)
	}
}

// SDK-163: the real provider, through the script of an installation. Its refusals need no network.
func TestDownloadFromTheRealProvider(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct {
		options string
		env     string
		want    outcome
	}{
		// no host is allowed by default
		{`--url https://example.com/`, "", notFetched("host_blocked", "Host blocked by policy")},
		{`--url https://example.com/ --allow example.org`, "", notFetched("host_blocked", "Host blocked by policy")},
		{`--url https://example.com/ --allow example.com --deny example.com`, "",
			notFetched("host_blocked", "Host blocked by policy")},
		{`--url https://localhost/ --allow localhost`, "", notFetched("host_blocked", "Host blocked by policy")},
		{`--url https://127.0.0.1:1/ --allow 127.0.0.1`, "MCPBASH_HTTPS_ALLOW_ALL=true",
			notFetched("host_blocked", "Host blocked by policy")},
		{`--url https://2130706433/ --allow 2130706433`, "", notFetched("host_blocked", "Host blocked by policy")},
		{`--url 'https://a b/'`, "MCPBASH_HTTPS_ALLOW_ALL=true", notFetched("host_blocked", "Host blocked by policy")},
		{`--url https://name.invalid/ --allow name.invalid`, "https_proxy=socks5://x",
			notFetched("network_error",
				"Network request failed: HTTPS request to name.invalid failed: https_proxy names a proxy of a kind other than "+
					"http and https")},
	} {
		got := tool{dir: dir, env: []string{c.env}, script: `mcp_download_safe --out o ` + c.options +
			`; [[ ! -e o ]]`}.run(t)
		if got != c.want {
			t.Errorf("SDK-163: %s %s: %+v", c.env, c.options, got)
		}
	}
}
