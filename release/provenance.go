package main

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"time"

	"mcp-bash/pkg/cli"
)

// digest is the member "digest" of a file or of sources.
type digest map[string]string

type descriptor struct {
	Name   string `json:"name"`
	Digest digest `json:"digest,omitempty"`
}

// A statement is one of in-toto, with the provenance of SLSA 1.
type statement struct {
	Type          string       `json:"_type"`
	Subject       []descriptor `json:"subject"`
	PredicateType string       `json:"predicateType"`
	Predicate     struct {
		BuildDefinition struct {
			BuildType          string            `json:"buildType"`
			ExternalParameters map[string]string `json:"externalParameters"`
			Dependencies       []descriptor      `json:"resolvedDependencies"`
		} `json:"buildDefinition"`
		RunDetails struct {
			Builder struct {
				ID string `json:"id"`
			} `json:"builder"`
		} `json:"runDetails"`
	} `json:"predicate"`
}

// buildType is the address of what describes the build: the page of the installation. The builder is the program that
// anybody runs to get the same bytes.
const buildType, builder = "https://example.com/mcp-bash/make-release/v1", "https://example.com/mcp-bash/make-release"

// writeProvenance writes from which sources, and by which compiler, the files were made. It names no machine or time of
// the build, which would differ for those who build it again.
func (r *release) writeProvenance() error {
	files, err := r.sums()
	if err != nil {
		return err
	}
	s := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	for _, f := range files {
		s.Subject = append(s.Subject, descriptor{f.name, digest{"sha256": f.sum}})
	}
	build := &s.Predicate.BuildDefinition
	build.BuildType = strings.Replace(buildType, placeholder, r.home(), 1)
	var targets []string
	for _, t := range r.targets {
		targets = append(targets, t.String())
	}
	build.ExternalParameters = map[string]string{"tag": "v" + cli.Version, "targets": strings.Join(targets, ","),
		"baseURL": r.base, "sourceDateEpoch": r.time.Format(time.RFC3339)}
	sources := descriptor{Name: "mcp-bash"}
	if commit, changed := strings.CutSuffix(r.commit, "-dirty"); changed {
		build.ExternalParameters["sources"] = r.commit // they are not those of the commit
	} else if commit != "" {
		sources.Digest = digest{"gitCommit": commit}
	}
	build.Dependencies = []descriptor{sources, {Name: runtime.Version()}}
	s.Predicate.RunDetails.Builder.ID = strings.Replace(builder, placeholder, r.home(), 1)
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(s); err != nil {
		return err
	}
	return write(r.asset("mcp-bash-v"+cli.Version+"-provenance.intoto.json"), b.Bytes(), 0o644)
}

// home returns the address of the releases, or the placeholder.
func (r *release) home() string {
	if r.base == "" {
		return placeholder
	}
	return r.base
}
