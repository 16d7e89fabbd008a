package image

import (
	"crypto/sha256"
	"encoding/hex"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"mcp-bash/pkg/bundle/internal/debian"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
)

// inventory lists the software of an image in SPDX 2.3: Debian packages and Go modules (H-607).
func (i *maker) inventory(bin runtimes.Binary, packages []*debian.Package, info *debug.BuildInfo) []byte {
	var list rawjson.Builder
	list.Array()
	var related []string
	add := func(name, version, source, download, purl string) {
		id := "SPDXRef-Package-" + strconv.Itoa(len(related)+1)
		related = append(related, id)
		list.Object().Name("SPDXID").String(id).Name("name").String(name).Name("versionInfo").String(version).
			Name("downloadLocation").String(download).Name("filesAnalyzed").Bool(false).
			Name("licenseConcluded").String("NOASSERTION").Name("licenseDeclared").String("NOASSERTION").
			Name("copyrightText").String("NOASSERTION").Name("sourceInfo").String(source).Name("externalRefs").Array().
			Object().Name("referenceCategory").String("PACKAGE-MANAGER").Name("referenceType").String("purl").
			Name("referenceLocator").String(purl).End().End().End()
	}
	add("mcp-bash", cli.Version, "built with "+info.GoVersion, "NOASSERTION", "pkg:generic/mcp-bash@"+cli.Version)
	for _, p := range packages {
		add(p.Name, p.Version, "built from the source package "+p.Source+" "+p.SourceVersion, p.Address(), p.PURL())
	}
	add("stdlib", strings.TrimPrefix(info.GoVersion, "go"), "part of mcp-bash", "NOASSERTION",
		"pkg:golang/stdlib@"+strings.TrimPrefix(info.GoVersion, "go"))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		add(m.Path, m.Version, "part of mcp-bash; checksum "+m.Sum, "https://"+m.Path, "pkg:golang/"+m.Path+"@"+m.Version)
	}
	content := list.End().Bytes()
	sum := sha256.Sum256(content)
	var b rawjson.Builder
	b.Object().Name("spdxVersion").String("SPDX-2.3").Name("dataLicense").String("CC0-1.0").
		Name("SPDXID").String("SPDXRef-DOCUMENT").
		Name("name").String("Debian " + debianRelease + " and mcp-bash for " + bin.String()).
		Name("documentNamespace").String("https://spdx.org/spdxdocs/mcp-bash-" + hex.EncodeToString(sum[:16])).
		Name("creationInfo").Object().Name("created").String(i.Modified.UTC().Format(time.RFC3339)).
		Name("creators").Strings([]string{"Tool: mcp-bash-" + cli.Version}).End().
		Name("packages").Raw(content).Name("relationships").Array()
	for _, id := range related {
		b.Object().Name("spdxElementId").String("SPDXRef-DOCUMENT").Name("relationshipType").String("DESCRIBES").
			Name("relatedSpdxElement").String(id).End()
	}
	return append(b.End().End().Bytes(), '\n')
}
