package web

import (
	"crypto/x509"
	"os"
	"path/filepath"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/text/ascii"
)

// maxCertificates limits the size of a certificate file, in bytes.
const maxCertificates = 16 << 20

// ReadRoots returns the certificate authorities of CURL_CA_BUNDLE, or of SSL_CERT_FILE and
// SSL_CERT_DIR (RES-111). The result is nil, for the system's roots, if no variable is set.
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
		if ascii.Trim(name) == "" {
			continue
		}
		if pem, err := boundedfile.Read(name, maxCertificates); err == nil && pool.AppendCertsFromPEM(ascii.PEM(pem)) {
			found = true
		}
	}
	if !found {
		return nil, ProtocolError("CURL_CA_BUNDLE, SSL_CERT_FILE or SSL_CERT_DIR contains no certificate")
	}
	return pool, nil
}
