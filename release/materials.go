package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"mcp-bash/pkg/cli"
)

// writeMaterials writes the bill of materials: the modules in the build
// information of the release's programs, and Go's library.
func (r *release) writeMaterials() error {
	modules, goVersion := map[string]*debug.Module{}, ""
	commands := []string{}
	for _, t := range r.trees {
		for _, program := range t.programs {
			built, err := buildinfo.ReadFile(program)
			if err != nil {
				return err
			}
			goVersion = strings.TrimPrefix(built.GoVersion, "go")
			commands = append(commands, strings.TrimSuffix(filepath.Base(program), ".exe"))
			for _, m := range built.Deps {
				if m.Replace != nil {
					m = m.Replace
				}
				modules[m.Path+"@"+m.Version] = m
			}
		}
	}
	modules["std@"+goVersion] = &debug.Module{Path: "std", Version: goVersion}

	product := cdx.Component{Type: cdx.ComponentTypeApplication, Name: "mcp-bash", Version: cli.Version,
		BOMRef: "pkg:golang/mcp-bash@" + cli.Version, PackageURL: "pkg:golang/mcp-bash@" + cli.Version,
		Licenses: &cdx.Licenses{{License: &cdx.License{ID: "MIT"}}}}
	slices.Sort(commands)
	product.Properties = &[]cdx.Property{{Name: "mcp-bash:commands", Value: strings.Join(slices.Compact(commands),
		" ")}}
	var components []cdx.Component
	var refs []string
	for _, m := range modules {
		c := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version}
		c.PackageURL = "pkg:golang/" + m.Path + "@" + m.Version
		c.BOMRef = c.PackageURL
		if m.Sum != "" {
			c.Properties = &[]cdx.Property{{Name: "go:sum", Value: m.Sum}}
		}
		components, refs = append(components, c), append(refs, c.BOMRef)
	}
	slices.SortFunc(components, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	slices.Sort(refs)

	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &product}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: product.BOMRef, Dependencies: &refs}}
	bom.SerialNumber = serial(r.time, refs)
	return create(r.asset("mcp-bash-v"+cli.Version+"-sbom.cdx.json"), func(w io.Writer) error {
		return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
	})
}

// serial returns the UUID of a bill of materials. The same version, time and components have the same UUID.
func serial(when time.Time, refs []string) string {
	u := sha256.Sum256(fmt.Appendf(nil, "%s %s %q", cli.Version, when, refs))
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80 // version 8: an application-specific format
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:16])
}
