package web

import (
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/files/boundedfile"
)

// maxCertificates is how long a file of certificates may be, in bytes.
const maxCertificates = 16 << 20

// ReadRoots returns the certificate authorities that CURL_CA_BUNDLE, or else
// SSL_CERT_FILE and SSL_CERT_DIR, name (RES-111); nil, for the system's, when
// none of them is set.
func ReadRoots(env map[string]string) (*x509.CertPool, error) {
	file, dirs := env["SSL_CERT_FILE"], env["SSL_CERT_DIR"]
	if bundle := env["CURL_CA_BUNDLE"]; bundle != "" {
		file, dirs = bundle, ""
	}
	if file == "" && dirs == "" {
		return nil, nil
	}
	files := []string{file}
	for _, dir := range filepath.SplitList(dirs) {
		entries, _ := os.ReadDir(dir)
		for _, entry := range entries {
			files = append(files, filepath.Join(dir, entry.Name()))
		}
	}
	pool, found := x509.NewCertPool(), false
	for _, name := range files {
		if strings.TrimSpace(name) == "" {
			continue
		}
		if pem, err := boundedfile.Read(name, maxCertificates); err == nil && pool.AppendCertsFromPEM(pem) {
			found = true
		}
	}
	if !found {
		return nil, ProtocolError("there is no certificate where CURL_CA_BUNDLE, SSL_CERT_FILE or SSL_CERT_DIR leads")
	}
	return pool, nil
}
