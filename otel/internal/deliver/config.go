// Package deliver sends spans, log records and metrics to a collector, with the exporters of OpenTelemetry.
//
// It calls the exporters directly: their batch processors drop what they cannot send. [Queue.Send] returns when the
// collector has taken everything, or when its context ends.
package deliver

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"mcp-bash/pkg/cli"
)

// A signal is a kind of data with its own variables: TRACES, METRICS or LOGS.
type signal string

const (
	traces  signal = "TRACES"
	metrics signal = "METRICS"
	logs    signal = "LOGS"
)

func (s signal) String() string { return strings.ToLower(string(s)) }

// env returns the name and value of a variable of the exporters: the variable of the signal, or else the one of all
// signals.
func (s signal) env(name string) (variable, value string) {
	variable = "OTEL_EXPORTER_OTLP_" + string(s) + "_" + name
	if value = os.Getenv(variable); value == "" {
		variable = "OTEL_EXPORTER_OTLP_" + name
		value = os.Getenv(variable)
	}
	return variable, value
}

func invalid(variable, value, cause, hint string) error {
	return (&cli.Error{Code: cli.CodeInvalid, Subject: variable + "=" + value, Cause: errors.New(cause)}).
		WithHint("%s", hint)
}

// wanted reports whether a signal is sent (OTEL_TRACES_EXPORTER and so on).
func (s signal) wanted() (bool, error) {
	variable := "OTEL_" + string(s) + "_EXPORTER"
	switch value := os.Getenv(variable); {
	case strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true"), value == "none":
		return false, nil
	case value != "" && value != "otlp":
		return false, invalid(variable, value, "there is no such exporter here", "set it to otlp or none")
	}
	return true, nil
}

// check returns an error for variables that the exporters would ignore.
func (s signal) check() error {
	if variable, value := s.env("PROTOCOL"); value != "" && value != "http/protobuf" {
		return invalid(variable, value, "only http/protobuf is supported",
			"remove it, and name the collector's HTTP port (4318) in OTEL_EXPORTER_OTLP_ENDPOINT")
	}
	variable, value := s.env("ENDPOINT")
	u, err := url.Parse(value)
	if value != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		return invalid(variable, value, "not an HTTP address", "set it to an address such as http://collector:4318")
	}
	if variable, value := s.env("COMPRESSION"); value != "" && value != "gzip" && value != "none" {
		return invalid(variable, value, "unknown compression", "set it to gzip or none")
	}
	return nil
}

// timeout returns the time limit of a request.
func (s signal) timeout() (time.Duration, error) {
	variable, value := s.env("TIMEOUT")
	if value == "" {
		return 10 * time.Second, nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n <= 0 || n > 3_600_000 {
		return 0, invalid(variable, value, "not a number of milliseconds", "set it to a number such as 10000")
	}
	return time.Duration(n) * time.Millisecond, nil
}

// MetricsEvery returns the time between two exports of metrics (OTEL_METRIC_EXPORT_INTERVAL).
func MetricsEvery() (time.Duration, error) {
	value := cmp.Or(os.Getenv("OTEL_METRIC_EXPORT_INTERVAL"), "60000")
	n, err := strconv.Atoi(value)
	if err != nil || n <= 0 || n > 86_400_000 {
		return 0, invalid("OTEL_METRIC_EXPORT_INTERVAL", value, "not a number of milliseconds",
			"set it to a number such as 60000")
	}
	return time.Duration(n) * time.Millisecond, nil
}

// client returns the HTTP client of a signal, which remembers the status of a response. For such a client, the
// exporters do not read the variables of timeouts and certificates.
func (s signal) client(r *replies) (*http.Client, error) {
	timeout, err := s.timeout()
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if transport.TLSClientConfig, err = s.tls(); err != nil {
		return nil, err
	}
	r.base = transport
	return &http.Client{Transport: r, Timeout: timeout}, nil
}

func (s signal) tls() (*tls.Config, error) {
	config := &tls.Config{}
	if variable, file := s.env("CERTIFICATE"); file != "" {
		text, err := os.ReadFile(file)
		config.RootCAs = x509.NewCertPool()
		if err == nil && !config.RootCAs.AppendCertsFromPEM(text) {
			err = errors.New("no certificates in it")
		}
		if err != nil {
			return nil, invalid(variable, file, err.Error(), "name a file with certificates in PEM")
		}
	}
	variable, file := s.env("CLIENT_CERTIFICATE")
	if _, key := s.env("CLIENT_KEY"); file != "" {
		pair, err := tls.LoadX509KeyPair(file, key)
		if err != nil {
			return nil, invalid(variable, file, err.Error(), "name its key in OTEL_EXPORTER_OTLP_CLIENT_KEY")
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// replies remembers the last response of a collector. The exporters return only its text.
type replies struct {
	base   http.RoundTripper
	status int           // 0: none
	after  time.Duration // of the header Retry-After
}

// RoundTrip implements [http.RoundTripper].
func (r *replies) RoundTrip(request *http.Request) (*http.Response, error) {
	r.status, r.after = 0, 0
	response, err := r.base.RoundTrip(request)
	if err == nil {
		r.status = response.StatusCode
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		r.after = time.Duration(min(max(seconds, 0), int(maxWait.Seconds()))) * time.Second
	}
	return response, err
}
