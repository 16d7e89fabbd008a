package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mcp-bash/pkg/auth/tokenfile"
)

// A served is a process that runs `mcp-bash serve --http`.
type served struct {
	t       *testing.T
	url     string
	client  *http.Client
	command *exec.Cmd
	mu      sync.Mutex
	log     bytes.Buffer
	read    chan string // the address; closed at the end of the log
	tmp     string
}

// serveHTTP starts a server of a project with one tool, env, which prints its environment.
func serveHTTP(t *testing.T, env []string, args ...string) *served {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"server.d/server.meta.json": "{}", "tools/env/tool.sh": "#!/bin/bash\nenv\n",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := &served{t: t, tmp: t.TempDir(), client: &http.Client{Transport: &http.Transport{}}}
	s.command = exec.Command("mcp-bash", append([]string{"serve", "--http", "127.0.0.1:0"}, args...)...)
	s.command.Env = append(os.Environ(), "MCPBASH_PROJECT_ROOT="+root, "MCPBASH_TOOL_ALLOWLIST=*",
		"MCPBASH_LOG_LEVEL=debug",
		"MCPBASH_DEBUG_PAYLOADS=true", "MCPBASH_LOG_VERBOSE=true", "MCPBASH_PRESERVE_STATE=true", "TMPDIR="+s.tmp)
	s.command.Env = append(s.command.Env, env...)
	stderr, err := s.command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	s.read = make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			s.mu.Lock()
			fmt.Fprintln(&s.log, lines.Text())
			s.mu.Unlock()
			if url, ok := strings.CutPrefix(lines.Text(), "mcp-bash: serving "); ok {
				s.read <- url
			}
		}
		close(s.read)
	}()
	t.Cleanup(func() {
		s.command.Process.Signal(syscall.SIGKILL)
		s.command.Wait()
	})
	var ok bool
	if s.url, ok = <-s.read; !ok {
		t.Fatalf("no server: %s", s.text())
	}
	return s
}

func (s *served) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// ask sends a message, and returns the status and the body of the response.
func (s *served) ask(message string, header ...string) (int, string) {
	s.t.Helper()
	return s.askAt(s.url, message, header...)
}

func (s *served) askAt(url, message string, header ...string) (int, string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(message))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		} else {
			r.Header.Set(header[i], header[i+1])
		}
	}
	response, err := s.client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, string(body) + response.Header.Get("Mcp-Session-Id")
}

const (
	metaOfRequest = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	callEnv   = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"env",` + metaOfRequest + `}}`
	handshake = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
)

var headersOfCall = []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "env"}

// H-200: a server for other machines does not start without authentication. The error names the options to set.
func TestNoAuthentication(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"0.0.0.0:0"}, "other machines could use the server without authentication\nset --token-file"},
		{[]string{"0.0.0.0:0", "--token-file", "/nowhere/tokens.json"}, "token file /nowhere/tokens.json: "},
		{[]string{"0.0.0.0:0", "--oidc-issuer", "https://login.example.com"}, "--oidc-issuer needs --public-url"},
		{[]string{"127.0.0.1:0", "--oidc-issuer", "http://login.example.com"}, "it must begin with https://"},
		{[]string{"127.0.0.1:0", "--oidc-audience", "x"}, "--oidc-audience needs --oidc-issuer"},
		{[]string{"127.0.0.1:0", "--tls-cert", "x"}, "--tls-cert needs --tls-key"},
		{[]string{"127.0.0.1:0", "--tls-client-ca", "x"}, "--tls-client-ca needs --tls-cert"},
		{[]string{"127.0.0.1:0", "--public-url", "x"}, `--public-url "x": not a URL`},
		{[]string{"127.0.0.1:0", "--allow-origin", "*"}, "any web page could use the server"},
		{[]string{"127.0.0.1:0", "--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", "10.0.0.1/8"},
			`trusted proxy "10.0.0.1/8": bits after the first 8 are set; write 10.0.0.0/8`},
		{[]string{"127.0.0.1:0", "--allow-host", "a/b"}, "not the name of a host"},
	} {
		command := exec.Command("mcp-bash", append([]string{"serve", "--http"}, test.args...)...)
		command.Env = append(os.Environ(), "MCPBASH_PROJECT_ROOT="+t.TempDir())
		out, err := command.CombinedOutput()
		if err == nil || command.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), test.want) {
			t.Errorf("%v: %v\n%s", test.args, err, out)
		}
	}
}

// H-202, H-204, H-207: requests with forged hosts, origins, targets and sessions are refused.
func TestForgedRequests(t *testing.T) {
	s := serveHTTP(t, nil)
	if status, body := s.ask(callEnv, headersOfCall...); status != 200 || !strings.Contains(body, "MCPBASH_") {
		t.Fatal(status, body)
	}
	for _, header := range [][]string{
		{"Host", "evil.example"}, {"Origin", "https://evil.example"}, {"Origin", "null"}, {"Sec-Fetch-Site",
			"cross-site"},
	} {
		if status, body := s.ask(callEnv, append(header, headersOfCall...)...); status != 403 ||
			strings.Contains(body, "PATH") {
			t.Error(header, status, body)
		}
	}
	status, body := s.ask(handshake)
	if status != 200 {
		t.Fatal(status, body)
	}
	session := body[strings.LastIndex(body, "\n")+1:]
	if session == "" {
		t.Fatal(body)
	}
	for i := range 200 { // H-33: sessions cannot be guessed
		guess := session[:len(session)-1] + string(rune('A'+i%26))
		if i > 26 {
			guess = fmt.Sprint(i)
		}
		if guess == session {
			continue
		}
		if status, _ := s.ask(`{"jsonrpc":"2.0","id":2,"method":"ping"}`, "Mcp-Session-Id", guess); status != 404 {
			t.Errorf("session %q: %d", guess, status)
		}
	}
}

// H-210 to H-216: a caller needs its token. Scripts and logs never contain a token.
func TestTokensAreSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	token, err := tokenfile.Create(t.Context(), path, tokenfile.Token{Name: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	s := serveHTTP(t, []string{"MCPBASH_HTTP_TOKEN_FILE=" + path, "MCPBASH_HTTP_RATE=1000",
		"MCPBASH_TOOL_ENV_MODE=inherit",
		"MCPBASH_TOOL_ENV_INHERIT_ALLOW=true"})
	const wrong = tokenfile.Prefix + "wrongwrongwrongwrongwrongwrongwrongwrongwro"
	for _, test := range []struct {
		url    string
		header []string
		want   int
	}{
		{s.url, nil, 401}, {s.url, []string{"Authorization", "Bearer " + wrong}, 401},
		{s.url, []string{"Authorization", "Basic " + token}, 401},
		{s.url + "?access_token=" + token, nil, 400},
		{s.url + "?access_token=" + token, []string{"Authorization", "Bearer " + token}, 400},
		{s.url, []string{"Authorization", "Bearer " + token + " " + token}, 400},
		{s.url, []string{"Authorization", "Bearer " + token, "Origin", "https://evil.example"}, 403},
		{s.url, []string{"Authorization", "Bearer " + token}, 200},
	} {
		if status, body := s.askAt(test.url, callEnv, append(test.header, headersOfCall...)...); status != test.want ||
			strings.Contains(body, token) || strings.Contains(body, "MCPBASH_HTTP_") {
			t.Errorf("%v: %d %s", test.header, status, body)
		}
	}
	status, body := s.ask(handshake, "Authorization", "Bearer "+token)
	if status != 200 {
		t.Error(status, body)
	}
	// A message that repeats the token in its body is logged without it.
	s.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"env","arguments":{"note":"`+
		token+`"},`+metaOfRequest+`}}`,
		append([]string{"Authorization", "Bearer " + token}, headersOfCall...)...)
	s.command.Process.Signal(syscall.SIGTERM)
	s.command.Wait()
	logs := s.text()
	err = filepath.WalkDir(s.tmp, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(file, ".log") {
			text, _ := os.ReadFile(file)
			logs += string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(logs, "unknown token") || !strings.Contains(logs, "tools/call") {
		t.Errorf("nothing is logged: %s", logs)
	}
	for _, secret := range []string{token, strings.TrimPrefix(token, tokenfile.Prefix), wrong, "Bearer mcp",
		"Basic mcp"} {
		if at := strings.Index(logs, secret); at >= 0 {
			t.Errorf("%q is logged: %s", secret, logs[max(0, at-200):at])
		}
	}
}

// H-220: a caller that exceeds its rate gets 429. Another caller does not wait.
func TestRate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	var tokens []string
	for _, name := range []string{"greedy", "other"} {
		token, err := tokenfile.Create(t.Context(), path, tokenfile.Token{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, token)
	}
	s := serveHTTP(t, []string{"MCPBASH_HTTP_RATE=1", "MCPBASH_HTTP_BURST=3"}, "--token-file", path)
	ping := func(token string) int {
		status, _ := s.ask(handshake, "Authorization", "Bearer "+token)
		return status
	}
	refused := 0
	for range 20 {
		if ping(tokens[0]) == 429 {
			refused++
		}
	}
	if refused == 0 || ping(tokens[1]) != 200 {
		t.Errorf("%d refused", refused)
	}
}

// H-250, H-252: TLS with client certificates. A health check needs none.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ada"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
	for name, text := range map[string][]byte{"cert.pem": cert, "key.pem": private} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pair, err := tls.X509KeyPair(cert, private)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	s := serveHTTP(t, nil, "--tls-cert", filepath.Join(dir, "cert.pem"), "--tls-key", filepath.Join(dir, "key.pem"),
		"--tls-client-ca", filepath.Join(dir, "cert.pem"))
	if !strings.HasPrefix(s.url, "https://127.0.0.1:") {
		t.Fatal(s.url)
	}
	s.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	if status, body := s.ask(handshake); status != 401 || !strings.Contains(body, "a client certificate is required") {
		t.Error(status, body)
	}
	if response, err := s.client.Get(strings.TrimSuffix(s.url, "/mcp") + "/healthz"); err != nil ||
		response.StatusCode != 200 {
		t.Error(response, err)
	}
	s.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool,
		Certificates: []tls.Certificate{pair}}}
	if status, body := s.ask(callEnv, headersOfCall...); status != 200 {
		t.Error(status, body)
	}
	s.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MaxVersion: tls.VersionTLS11,
		MinVersion: tls.VersionTLS10}}
	if status, body := s.ask(handshake); status != 0 {
		t.Error("TLS 1.1", status, body)
	}
	// H-225: failed handshakes do not fill the log.
	for range 150 {
		conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(s.url, "https://"), "/mcp"))
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(conn, "\x1b[31mno handshake\r\n\r\n")
		io.Copy(io.Discard, conn)
		conn.Close()
	}
	s.command.Process.Signal(syscall.SIGTERM)
	<-s.read
	log := s.text()
	if n := strings.Count(log, "TLS handshake error"); n < 60 || n > 70 || strings.Contains(log, "\x1b") ||
		strings.Count(log, "mcp-bash: http: TLS") != n {
		t.Errorf("%d lines: %s", n, log)
	}
}
