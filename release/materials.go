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

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
)

// writeMaterials writes a bill of materials for each archive, and one for the whole release.
func (r *release) writeMaterials() error {
	for i, t := range r.trees {
		archive := t.Archive(runtimes.Tag)
		if err := r.writeMaterialsOf("mcp-bash", archive+".cdx.json", archive, r.trees[i:i+1]); err != nil {
			return err
		}
	}
	for i, t := range r.exporters {
		archive := exporterArchive(t.Target)
		if err := r.writeMaterialsOf(exporter, archive+".cdx.json", archive, r.exporters[i:i+1]); err != nil {
			return err
		}
	}
	return r.writeMaterialsOf("mcp-bash", "mcp-bash-v"+cli.Version+"-sbom.cdx.json", "",
		slices.Concat(r.trees, r.exporters))
}

// writeMaterialsOf writes the modules in the build information of the trees' programs, and Go's library. The product is
// the archive, if it is named.
func (r *release) writeMaterialsOf(title, name, archive string, trees []tree) error {
	modules, goVersion := map[string]*debug.Module{}, ""
	commands := []string{}
	for _, t := range trees {
		for _, program := range t.programs {
			built, err := buildinfo.ReadFile(program)
			if err != nil {
				return err
			}
			goVersion = strings.TrimPrefix(built.GoVersion, "go")
			commands = append(commands, strings.TrimSuffix(filepath.Base(program), ".exe"))
			for _, m := range built.Deps {
				if m.Path == "mcp-bash" { // the sources, which the exporter's module calls so
					continue
				}
				if m.Replace != nil {
					m = m.Replace
				}
				modules[m.Path+"@"+m.Version] = m
			}
		}
	}
	modules["std@"+goVersion] = &debug.Module{Path: "std", Version: goVersion}

	product := cdx.Component{Type: cdx.ComponentTypeApplication, Name: title, Version: cli.Version,
		BOMRef: "pkg:golang/" + title + "@" + cli.Version, PackageURL: "pkg:golang/" + title + "@" + cli.Version,
		Licenses: &cdx.Licenses{{License: &cdx.License{ID: "MIT"}}}}
	slices.Sort(commands)
	product.Properties = &[]cdx.Property{{Name: "mcp-bash:commands", Value: strings.Join(slices.Compact(commands),
		" ")}}
	if archive != "" {
		sum, err := r.sum(archive)
		if err != nil {
			return err
		}
		product.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: sum}}
	}
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
	bom.SerialNumber = serial(name, r.time, refs)
	return create(r.asset(name), func(w io.Writer) error {
		return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
	})
}

// serial returns the UUID of a bill of materials. The same name, time and components have the same UUID.
func serial(name string, when time.Time, refs []string) string {
	u := sha256.Sum256(fmt.Appendf(nil, "%s %s %q", name, when, refs))
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80 // version 8: an application-specific format
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:16])
}
