package secrets

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"mcp-bash/pkg/json/rawjson"
)

// P-2502, P-2503: names of secrets are recognized in any spelling.
func TestIsName(t *testing.T) {
	for _, name := range strings.Fields(`token access_token accessToken AccessToken access-token access.token ACCESS_TOKEN
		ACCESSTOKEN clientSecret client_secret clientsecret CLIENT-SECRET x-api-key X-Api-Key apiKey APIKey APIKEY apikeys
		api.key userPassword DB_PASSWORD DBPASSWORD password1 passwd PGPASSWORD passphrase privateKey private_key key
		mcpbash/remoteToken Authorization proxy-authorization x-amz-authorization cookie Set-Cookie session Mcp-Session-Id
		sessionId session_id bearer GITHUB_PAT oauth2Token pageToken page_token credentials awsCredentials jwt otp smtpPass
		X-Amz-Signature sig --token --db-password auth githubtoken secret_1 tokens`) {
		if !isSecretName(name) {
			t.Errorf("%s is not a name of a secret", name)
		}
	}
	for _, name := range strings.Fields(`progressToken progress_token MCP_PROGRESS_TOKEN MCPBASH_PROGRESS_TOKEN_JSON name
		method keyboard keys monkey author authority tokenizer PWD OLDPWD PATH path passage compass secondary cursor
		nextCursor id uri description turkey cookiecutter sessions _ - .`) {
		if isSecretName(name) {
			t.Errorf("%s is a name of a secret", name)
		}
	}
	if isSecretName("") {
		t.Error("no name is a name of a secret")
	}
}

// P-2502: secrets in texts, and the redacted texts.
func TestText(t *testing.T) {
	token, web := "ghp_"+strings.Repeat("a1B2", 9), "eyJhbGciOiJIUzI1NiJ9."+"eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMQ"
	for _, tc := range [][2]string{
		{"nothing to hide: a=b, -c d", "nothing to hide: a=b, -c d"},
		{"curl -H 'X-Api-Key: abc def' https://h/", "curl -H 'X-Api-Key: **redacted**' https://h/"},
		{`curl -H "Authorization: Bearer abc" https://h/`, `curl -H "Authorization: **redacted**" https://h/`},
		{"Authorization: Basic abc def\nHost: h", "Authorization: **redacted**\nHost: h"},
		{"mysql --password=abc --user root", "mysql --password=**redacted** --user root"},
		{"mysql --password 'a b' -e x", "mysql --password '**redacted**' -e x"},
		{`mysql --password="a \" b" -e x`, `mysql --password="**redacted**" -e x`},
		{"tool --api-key abc --verbose", "tool --api-key **redacted** --verbose"},
		{"tool -token abc", "tool -token **redacted**"},
		{"tool --token=a'b c'd e", "tool --token=**redacted** e"},
		{"export 'DB_PASSWORD=a b' c", "export 'DB_PASSWORD=**redacted**' c"},
		{`export 'DB_PASSWORD=a'\''b c' d`, "export 'DB_PASSWORD=**redacted**' d"},
		{"echo 'password=a'\nx 'y'", "echo 'password=**redacted**'\nx 'y'"},
		{"echo 'with password=a'\nx 'y'", "echo 'with password=**redacted**\nx 'y'"},
		{"PASSWORD: 'a\nb'\nc", "PASSWORD: '**redacted**'\nc"},
		{`tool --token=a\ b c`, "tool --token=**redacted** c"},
		{"x PGPASSWORD=abc psql", "x PGPASSWORD=**redacted** psql"},
		{"DB_PASSWORD=a b & c", "DB_PASSWORD=**redacted**"},
		{"accessToken=abc", "accessToken=**redacted**"},
		{"GET /x?page=2&access_token=abc&y=1 HTTP/1.1", "GET /x?page=2&access_token=**redacted** HTTP/1.1"},
		{"https://user:pass@example.com/p", "https://**redacted**@example.com/p"},
		{"https://" + "token@example.com/p", "https://**redacted**@example.com/p"},
		{"https://user:pa/ss@example.com/p", "https://**redacted**@example.com/p"},
		{"postgres://u:p%40@h:5432/db and ssh://git@h/r", "postgres://**redacted**@h:5432/db and ssh://git@h/r"},
		{"https://example.com:8443/a@b", "https://example.com:8443/a@b"},
		{"curl -u me:abc https://h/", "curl -u me:**redacted** https://h/"},
		{"curl --user me https://h/", "curl --user me https://h/"},
		{"sent bearer abc.def to h", "sent bearer **redacted** to h"},
		{"Basic dXNlcjpwYXNz is sent", "Basic **redacted** is sent"},
		{"basic knowledge", "basic knowledge"},
		{`body={"password":"a b","n":1}`, `body={"password":"**redacted**","n":1}`},
		{`body={"pin_password": 1234, "n":1}`, `body={"pin_password": **redacted**, "n":1}`},
		{`text {\"clientSecret\": \"a \\\" b\", \"n\":1}`, `text {\"clientSecret\": \"**redacted**\", \"n\":1}`},
		{`x {"credentials": {"a": "b"}}`, `x {"credentials": **redacted**`},
		{"password: hunter2 and more\nnext", "password: **redacted**\nnext"},
		{"password: |\n  hunter2\n", "password: **redacted**"},
		{"password => hunter2, x", "password => **redacted**"},
		{"found " + token + ", used", "found **redacted**, used"},
		{"web " + web + " end", "web **redacted** end"},
		{"a -----BEGIN RSA PRIVATE KEY-----\nb\n-----END RSA PRIVATE KEY-----\nc", "a **redacted**\nc"},
		{"PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none", "**redacted**"},
		{` {"a":{"token":"x"},"b":"y"} `, `{"a":{"token":"**redacted**"},"b":"y"}`},
		{`["--token","x","-v"]`, `["--token","**redacted**","-v"]`},
		{"progressToken: 5", "progressToken: 5"},
		// Public names and paths in messages of the server.
		{"Tool 'token': why it failed", "Tool 'token': why it failed"},
		{"2 tools; tool 'sig': why: password=x", "2 tools; tool 'sig': why: password=**redacted**"},
		{"Prompt 'auth': {{x}} is not declared", "Prompt 'auth': {{x}} is not declared"},
		{"{'token': 'x'}", "{'token': '**redacted**'}"},
		{"header 'X-Api-Key': x", "header 'X-Api-Key': **redacted**"},
		{"Tool \"token\": x", "Tool \"token\": **redacted**"},
		{"Toolauth 'token': x", "Toolauth 'token': **redacted**"},
		{"icon icons/passwd: no such file", "icon icons/passwd: no such file"},
		{"x.json: icon passwd.png: symlink", "x.json: icon passwd.png: symlink"},
		{"silicon passwd.png: x", "silicon passwd.png: **redacted**"},
		{"tools/auth.sh: line 3: x", "tools/auth.sh: line 3: x"},
		{"tools/auth/tool.token: symlink", "tools/auth/tool.token: symlink"},
		{"server.d/secret.json:3:12: expected a comma", "server.d/secret.json:3:12: expected a comma"},
		{"open /etc/tls/server.key: permission denied", "open /etc/tls/server.key: permission denied"},
		{"token file /run/secrets/token: no such file", "token file /run/secrets/token: no such file"},
		{"token file tokens: mode 0644, others can read it; run chmod 600 tokens; nobody is let in", ""},
		{"token file B2/tokens: B2/tokens (mode 0644, others can read it; run chmod 600 B2/tokens); nobody", ""},
		{"token file secrets/tokens: usable again", ""},
		{"token file /run/secrets/tokens: mode 0644, others can read it; run chmod 600 /run/secrets/tokens", ""},
		{"token file /run/secrets/tokens: invalid JSON at line 3: input/output error", ""},
		{"certificate /x.pem: key /run/tls-key: owned by uid 1000 (bob), not by uid 0 or root", ""},
		{"certificate /x.pem: /run/tls-key: it is not PEM; the old one stays in use", ""},
		{"certificates for clients /run/auth: usable again", ""},
		{"serve unix:/run/auth: accept unix /run/auth: use of closed connection", ""},
		{"issuer https://login.example.com/auth: dial tcp 127.0.0.1:443: refused", ""},
		{`Get "https://login.example.com/token": dial tcp 127.0.0.1:443: refused`, ""},
		{"provider 'token': a note", "provider 'token': a note"},
		{"completion 'token.sh': a note", "completion 'token.sh': a note"},
		{"file tokens: hunter2 is it", "file tokens: **redacted**"},
		{"profile tokens: it is lower", "profile tokens: **redacted**"},
		{"my tokens: it is lower", "my tokens: **redacted**"},
		{"/run/token: it is sEcReT", "/run/token: **redacted**"},
		{"/run/token: it is 123456", "/run/token: **redacted**"},
		{"/run/token: it is QWERTY", "/run/token: **redacted**"},
		{"/run/token: it is now A1B2", "/run/token: **redacted**"},
		{"/run/token: pin 1234", "/run/token: **redacted**"},
		{"//h/token: x y z", "//h/token: x y z"},
		{"https://h/x?token: abc", "https://h/x?token: **redacted**"},
		{"outputSchema: /token: is required", "outputSchema: /token: is required"},
		{"docs/auth.md: symlink", "docs/auth.md: symlink"},
		{"/prod/db/password: hunter2", "/prod/db/password: **redacted**"},
		{"/prod/db/password: Hunter 2", "/prod/db/password: **redacted**"},
		{"/run/token:abc", "/run/token:**redacted**"},
		{"x/db.password: a b", "x/db.password: **redacted**"},
		{"x/api-key: a b", "x/api-key: **redacted**"},
		{"auth.md: x", "auth.md: **redacted**"},
		{"tools/x/auth.sh=x", "tools/x/auth.sh=**redacted**"},
		{"token", "token"},
		{"the token is bad", "the token is bad"},
		{"token=", "token="},
		{"token='", "token='"},
	} {
		if tc[1] == "" {
			tc[1] = tc[0]
		}
		if got := Text(tc[0]); got != tc[1] {
			t.Errorf("%q:\n%q, want\n%q", tc[0], got, tc[1])
		}
	}
	r := Redactor{Names: []string{"x/Custom"}, Values: []string{"known", "now"}}
	for text, want := range map[string]string{
		"it is known, unknownst":            "it is **redacted**, un**redacted**st",
		`{"X/custom":1}`:                    `{"X/custom":"**redacted**"}`,
		`{"kn\u006fwn":1,"a":"kn\u006fwn"}`: `{"**redacted**":1,"a":"**redacted**"}`,
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%q:\n%q, want\n%q", text, got, want)
		}
	}
}

// P-2502: secrets in JSON.
// CLI-108: no message contains the login of a URL.
func TestLogins(t *testing.T) {
	for text, want := range map[string]string{
		"ftp://user:secret@host is not":      "ftp://**redacted**@host is not",
		"a http://u@h b ftp://t@h c":         "a http://**redacted**@h b ftp://**redacted**@h c",
		"https://u:pa/ss@h/x?token=y":        "https://**redacted**@h/x?token=y",
		"ssh://git@h/r, ssh://git:p@h/r":     "ssh://git@h/r, ssh://**redacted**@h/r",
		"https://h:1/@scope/x a@b ://":       "https://h:1/@scope/x a@b ://",
		"git+https://u:p@h 1://:@h ://u:p@h": "git+https://**redacted**@h 1://**redacted**@h ://**redacted**@h",
	} {
		if got := Logins(text); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

func FuzzLogins(f *testing.F) {
	f.Add("see ", "/x")
	f.Add("a://", "@b://c@d")
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "Q7sentinelQ"
		if strings.Contains(before+after, secret) {
			return
		}
		if got := Logins(before + " https://u:" + secret + "@host " + after); strings.Contains(got, secret) {
			t.Errorf("%q", got)
		}
	})
}

func TestJSON(t *testing.T) {
	for doc, want := range map[string]string{
		`{"accessToken":"x","clientSecret":["x"],"x-api-key":{"a":"x"},"userPassword":5,"a":true}`: `{"accessToken":"R",` +
			`"clientSecret":"R","x-api-key":"R","userPassword":"R","a":true}`,
		`{"a":[{"b":{"db.password":"x"}}]}`:                    `{"a":[{"b":{"db.password":"R"}}]}`,
		`{"tok\u0065n":"x"}`:                                   `{"token":"R"}`,
		`{"maxTokens":100,"tokens":["x"],"total_tokens":5}`:    `{"maxTokens":100,"tokens":"R","total_tokens":5}`,
		`{"env":{"A":"x","B":1,"C":{"D":"x"}},"e":"x"}`:        `{"env":{"A":"R","B":"R","C":{"D":"R"}},"e":"x"}`,
		`{"env":["A=x","B=y=z","C"]}`:                          `{"env":["A=R","B=R","R"]}`,
		`{"environment":[{"name":"A","value":"x"}]}`:           `{"environment":[{"name":"A","value":"R"}]}`,
		`{"environment":"production"}`:                         `{"environment":"production"}`,
		`{"headers":[{"name":"X-Auth-Token","value":"x"}]}`:    `{"headers":[{"name":"X-Auth-Token","value":"R"}]}`,
		`{"headers":[{"name":"Accept","value":"x"}]}`:          `{"headers":[{"name":"Accept","value":"x"}]}`,
		`{"headers":{"Authorization":"Basic x","Accept":"y"}}`: `{"headers":{"Authorization":"R","Accept":"y"}}`,
		`{"args":["--token","x","-u","a:b","--key=x","-v"]}`:   `{"args":["--token","R","-u","R","--key=R","-v"]}`,
		`{"args":["API_KEY=x y","-H","Cookie: a=b"]}`:          `{"args":["API_KEY=R","-H","Cookie: R"]}`,
		`{"a":"{\"password\":\"x\"}","b":"[1, 2]"}`:            `{"a":"{\"password\":\"R\"}","b":"[1,2]"}`,
		`{"a":"BEARER abc"}`:                                   `{"a":"Bearer R"}`,
		`["1.10.2","a.b.c","a.b","a..c"]`:                      `["1.10.2","R","a.b","a..c"]`,
		`{"url":"https://u:p@h/?sig=x"}`:                       `{"url":"https://R@h/?sig=R"}`,
		`{"progressToken":"5","_meta":{"progressToken":7}}`:    `{"progressToken":"5","_meta":{"progressToken":7}}`,
		`{"Key":"DB_PASSWORD","Value":"x"}`:                    `{"Key":"R","Value":"R"}`,
		`[["X-Api-Key","x"],["Authorization","Basic x"]]`:      `[["X-Api-Key","R"],["Authorization","R"]]`,
		`{"required":["apiKey","url"],"a":["--pin-token",5]}`:  `{"required":["apiKey","url"],"a":["--pin-token","R"]}`,
		`"password=x"`:                   `"password=R"`,
		`{"text":"é\u0000\ud800 plain"}`: `{"text":"é\u0000\ud800 plain"}`,
	} {
		got := strings.ReplaceAll(Text(doc), Redacted, "R")
		if doc[0] == '"' {
			got = strings.ReplaceAll(string(new(Redactor).AppendJSON(nil, json.RawMessage(doc))), Redacted, "R")
		}
		if got != want {
			t.Errorf("%s:\n%s, want\n%s", doc, got, want)
		}
	}
	deep := `{"a":1}`
	for range maxNested + 2 {
		deep = `{"a":` + string(rawjson.Quote(deep)) + `}`
	}
	if got := Text(deep); !json.Valid([]byte(got)) || !strings.Contains(got, Redacted) {
		t.Errorf("%s", got)
	}
}

// The time for texts of many megabytes is linear.
func TestLongTexts(t *testing.T) {
	for _, piece := range []string{"a://", "token='", "-u \"", "aSG.", "AKIA", "eyJ", "eyJaaaaaaaa.", "BEGIN PRIVATE KEY",
		"-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY----- a: ", "key\\", `\"`, "a=", "bearer ", "'token=a ", "\"a'",
		"-u a'", "token=a'\n", "/token: ", "tool 'token': ", "a/token:", "\nPuTTY-User-Key-File-"} {
		text := strings.Repeat(piece, 2<<20/len(piece))
		Text(text)
		Scan([]byte(text))
	}
}

// P-2502: the value of a secret is removed for any name and in any context, and JSON stays
// valid.
func FuzzText(f *testing.F) {
	f.Add("accessToken", "curl -H \"", "\" https://h/", []byte(`{"a":["x"]}`))
	f.Add("x-api-key", "?a=b&", "&c", []byte(`{"env":{"A":1}}`))
	f.Add("DB_PASSWORD", "", "", []byte(`"bearer x"`))
	f.Add("token", "https://u:p@h/", "-----BEGIN PRIVATE KEY-----", []byte(`{"name":"token","value":"y"}`))
	f.Fuzz(func(t *testing.T, name, before, after string, doc []byte) {
		const secret = "Q7sentinelQ"
		Text(string(doc))
		Scan(doc)
		if isShortWord(name) && (Text(name) != name || isThreeParts(name)) {
			t.Errorf("%q is a secret", name)
		}
		if v, err := rawjson.Check(doc); err == nil {
			if got := new(Redactor).AppendJSON(nil, v); !json.Valid(got) {
				t.Errorf("%s: %s", doc, got)
			}
		}
		if !isSecretName(name) || !utf8.ValidString(name+before+after) || strings.Contains(before+name+after, secret) {
			return
		}
		q := func(s string) string { return string(rawjson.Quote(s)) }
		for _, text := range []string{
			"{" + q(before) + ":1," + q(name) + ":" + q(secret+after) + "}",
			"[" + q(after) + ",{" + q(name) + ":[{" + q(before) + ":" + q(secret) + "}]}]",
			"{" + q(before) + ":" + q("{"+q(name)+":"+q(secret)+"}") + "}",
			"{\"env\":{" + q("x"+name) + ":" + q(secret) + "}}",
			"{\"env\":[" + q("x="+secret+after) + "]}",
			"[{\"name\":" + q(name) + ",\"value\":" + q(secret) + "}]",
		} {
			got := Text(text)
			if strings.Contains(got, secret) || !json.Valid([]byte(got)) {
				t.Errorf("%s\n%s", text, got)
			}
		}
		if strings.HasSuffix(strings.ToLower(before), "icon") { // a message about a file
			return
		}
		if strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") != "" {
			return
		}
		for _, form := range []string{"%s %s=%s %s", "%s %s: %s\n%s", "%s --%s %s %s", "%s --%s=%s %s", "%s \"%s\":\"%s\" %s",
			"%s ?%s=%s&%s", "%s '%s: %s' %s", "%s %s = '%s' %s"} {
			if text := fmt.Sprintf(form, before, name, secret, after); strings.Contains(Text(text), secret) {
				t.Errorf("%q: %q", text, Text(text))
			}
		}
	})
}
