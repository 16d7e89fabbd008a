package secrets

import "strings"

// A form is the format of an issuer's secrets: a prefix, and the characters after it.
type form struct {
	rule      string
	prefix    string
	chars     charset
	minLength int // the minimum number of characters after the prefix, or the exact number if exact is set
	exact     bool
	apart     bool // a letter or digit must not precede the prefix, because the prefix can be the end of a word
}

type charset int

const (
	alnum   charset = iota // letters and digits
	upper                  // capital letters and digits
	hex                    // lower-case hexadecimal digits
	word                   // letters, digits, "_" and "-"
	base64s                // standard Base64
	dotted                 // letters, digits, "_", "-", ".", "=", "/" and ":"
)

func (s charset) has(c byte) bool {
	isDigit, isUpper, isLower := c >= '0' && c <= '9', c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z'
	switch s {
	case upper:
		return isDigit || isUpper
	case hex:
		return isDigit || c >= 'a' && c <= 'f'
	case word:
		return isDigit || isUpper || isLower || c == '_' || c == '-'
	case base64s:
		return isDigit || isUpper || isLower || c == '+' || c == '/' || c == '='
	case dotted:
		return isDigit || isUpper || isLower || strings.IndexByte("_-.=/:", c) >= 0
	}
	return isDigit || isUpper || isLower
}

// forms are the formats of tokens that are recognized in any context. Their issuers chose
// the prefixes for this purpose.
var forms = [...]form{
	{"age-secret-key", "AGE-SECRET-KEY-1", upper, 50, false, false},
	{"airtable-token", "patA", dotted, 70, false, true},
	{"anthropic-key", "sk-ant-", word, 40, false, false},
	{"atlassian-token", "ATATT3xFf", dotted, 60, false, false},
	{"aws-access-key", "AKIA", upper, 16, true, true},
	{"aws-access-key", "ASIA", upper, 16, true, true},
	{"azure-account-key", "AccountKey=", base64s, 80, false, false},
	{"azure-shared-key", "SharedAccessKey=", base64s, 40, false, false},
	{"databricks-token", "dapi", hex, 32, true, true},
	{"digitalocean-token", "dop_v1_", hex, 64, false, false},
	{"digitalocean-token", "doo_v1_", hex, 64, false, false},
	{"digitalocean-token", "dor_v1_", hex, 64, false, false},
	{"discord-webhook", "discord.com/api/webhooks/", dotted, 60, false, false},
	{"docker-token", "dckr_pat_", word, 20, false, false},
	{"doppler-token", "dp.pt.", alnum, 40, false, true},
	{"figma-token", "figd_", word, 40, false, false},
	{"github-token", "ghp_", alnum, 36, false, false},
	{"github-token", "gho_", alnum, 36, false, false},
	{"github-token", "ghu_", alnum, 36, false, false},
	{"github-token", "ghs_", alnum, 36, false, false},
	{"github-token", "ghr_", alnum, 36, false, false},
	{"github-token", "github_pat_", word, 50, false, false},
	{"gitlab-token", "glpat-", word, 20, false, false},
	{"gitlab-token", "gldt-", word, 20, false, false},
	{"gitlab-token", "glrt-", word, 20, false, false},
	{"gitlab-token", "glptt-", hex, 40, false, false},
	{"gitlab-token", "glcbt-", word, 20, false, false},
	{"google-api-key", "AIza", word, 35, true, true},
	{"google-client-secret", "GOCSPX-", word, 28, false, false},
	{"google-token", "ya29.", word, 30, false, true},
	{"grafana-token", "glsa_", word, 40, false, false},
	{"grafana-token", "glc_", base64s, 32, false, true},
	{"groq-key", "gsk_", alnum, 50, false, true},
	{"huggingface-token", "hf_", alnum, 34, true, true},
	{"linear-key", "lin_api_", alnum, 40, false, false},
	{"mailgun-key", "key-", hex, 32, true, true},
	{"mcp-bash-token", "mcpbash_", word, 43, false, false},
	{"new-relic-key", "NRAK-", upper, 27, false, false},
	{"notion-token", "ntn_", alnum, 43, false, true},
	{"npm-token", "npm_", alnum, 36, false, true},
	{"openai-key", "sk-proj-", word, 40, false, false},
	{"openai-key", "sk-svcacct-", word, 40, false, false},
	{"openai-key", "sk-admin-", word, 40, false, false},
	{"openai-key", "sk-", alnum, 32, false, true},
	{"openrouter-key", "sk-or-v1-", hex, 64, false, false},
	{"openssh-private-key", "b3BlbnNzaC1rZXktdjE", base64s, 60, false, false},
	{"perplexity-key", "pplx-", alnum, 40, false, true},
	{"planetscale-token", "pscale_tkn_", word, 32, false, false},
	{"planetscale-token", "pscale_pw_", word, 32, false, false},
	{"postman-key", "PMAK-", word, 50, false, false},
	{"pulumi-token", "pul-", hex, 40, true, true},
	{"pypi-token", "pypi-AgEIcHlwaS5vcmc", word, 50, false, false},
	{"replicate-token", "r8_", alnum, 37, true, true},
	{"rubygems-key", "rubygems_", hex, 48, false, false},
	{"sendgrid-key", "SG.", dotted, 60, false, true},
	{"sentry-token", "sntrys_", base64s, 40, false, false},
	{"sentry-token", "sntryu_", hex, 64, false, false},
	{"shopify-token", "shpat_", hex, 32, false, false},
	{"shopify-token", "shpca_", hex, 32, false, false},
	{"shopify-token", "shppa_", hex, 32, false, false},
	{"shopify-token", "shpss_", hex, 32, false, false},
	{"slack-token", "xoxa-", word, 20, false, false},
	{"slack-token", "xoxb-", word, 20, false, false},
	{"slack-token", "xoxe-", word, 20, false, false},
	{"slack-token", "xoxe.xox", dotted, 20, false, false},
	{"slack-token", "xoxp-", word, 20, false, false},
	{"slack-token", "xoxr-", word, 20, false, false},
	{"slack-token", "xoxs-", word, 20, false, false},
	{"slack-token", "xapp-", word, 20, false, false},
	{"slack-webhook", "hooks.slack.com/services/", base64s, 40, false, false},
	{"square-token", "sq0atp-", word, 22, false, false},
	{"square-token", "sq0csp-", word, 40, false, false},
	{"stripe-key", "sk_live_", alnum, 20, false, false},
	{"stripe-key", "rk_live_", alnum, 20, false, false},
	{"stripe-key", "whsec_", base64s, 32, false, false},
	{"supabase-token", "sbp_", hex, 40, false, true},
	{"tailscale-key", "tskey-", word, 20, false, false},
	{"twilio-key", "SK", hex, 32, true, true},
	{"vault-token", "hvs.", word, 24, false, true},
	{"vault-token", "hvb.", word, 24, false, true},
	{"xai-key", "xai-", alnum, 70, false, true},
}

type span struct {
	start, end int
	rule       string
}

// tokens returns the tokens in a text, form by form.
func tokens(text string) (list []span) {
	for i := range forms {
		f := &forms[i]
		for at := 0; ; {
			found := strings.Index(text[at:], f.prefix)
			if found < 0 {
				break
			}
			start := at + found
			end := start + len(f.prefix)
			if at = end; f.apart && start > 0 && endsWord(text[:start]) {
				continue
			}
			for end < len(text) && f.chars.has(text[end]) && (!f.exact || end-at <= f.minLength) {
				end++
			}
			if n := end - at; n == f.minLength || n > f.minLength && !f.exact {
				list = append(list, span{start, end, f.rule})
				at = end
			}
		}
	}
	return append(list, webTokens(text)...)
}

// endsWord reports whether a text ends with a letter or digit that is not part of an escape
// such as \n or %20.
func endsWord(text string) bool {
	last := len(text) - 1
	if !alnum.has(text[last]) {
		return false
	}
	return !(last > 0 && text[last-1] == '\\' || last > 1 && text[last-2] == '%')
}

// webTokens returns the JSON web tokens in a text: two JSON objects and a signature in
// Base64, separated by dots.
func webTokens(text string) (list []span) {
	for at := 0; ; {
		found := strings.Index(text[at:], "eyJ")
		if found < 0 {
			return list
		}
		start, end := at+found, at+found
		parts := 0
		for ; parts < 3; parts++ {
			from := end
			if parts < 2 && !strings.HasPrefix(text[from:], "eyJ") {
				break
			}
			for end < len(text) && word.has(text[end]) {
				end++
			}
			if end-from < 8 {
				break
			}
			if parts < 2 {
				if end == len(text) || text[end] != '.' {
					break
				}
				end++
			}
		}
		if parts == 3 {
			list = append(list, span{start, end, "json-web-token"})
		}
		at = max(end, start+3)
	}
}
