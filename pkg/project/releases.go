package project

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/json/rawjson"
)

// Releases returns the address of the releases, or "" if it is unknown. The environment goes before the file RELEASES
// of an installation, which "make release" writes (CLI-1170). home is the installation, or "".
func Releases(env Env, home string) string {
	if base := env["MCPBASH_RELEASE_BASE_URL"]; base != "" || home == "" {
		return base
	}
	text, err := boundedfile.Read(filepath.Join(home, "RELEASES"), 4<<10)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// InstallerFile is the record that install.sh writes into an installation (CLI-1708).
const InstallerFile = "INSTALLER.json"

// Record returns the record that install.sh wrote into the installation home, or nil.
func Record(home string) json.RawMessage {
	if home == "" {
		return nil
	}
	text, err := boundedfile.Read(filepath.Join(home, InstallerFile), 64<<10)
	if err != nil {
		return nil
	}
	record, err := rawjson.Check(text)
	if err != nil {
		return nil
	}
	return record
}

// Checkout returns the sources from which install.sh built the installation home, or "" if they are unknown.
func Checkout(home string) string { return rawjson.TextOf(Record(home), "checkout") }
