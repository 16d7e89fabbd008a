package image

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/bundle/internal/web"
	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/lazyregexp"
	"mcp-bash/pkg/text/weburl"
)

// contextMark is a file in each context that this command makes. A folder with this file can be replaced.
const contextMark = runtimes.Dir + "/context"

// containerfiles are the names of the file that describes an image. Without an option, Docker reads only Dockerfile.
var containerfiles = []string{"Containerfile", "Dockerfile"}

//go:embed Containerfile
var template string

// contextFiles returns a Containerfile and the files that it copies.
func (i *maker) contextFiles(ctx context.Context) ([]mcpb.File, error) {
	if err := i.FindRuntimes(ctx); err != nil {
		return nil, err
	}
	files := append(runtimes.Layout(runtimes.Dir, i.Tree, i.Binaries), mcpb.Bytes(contextMark, false, nil))
	tops := map[string]bool{} // the entries at the top of the project, with a slash after directories
	for _, f := range i.Content.Files() {
		f.Name = strings.TrimPrefix(f.Name, stage.ServerDir+"/")
		top, _, isDir := strings.Cut(f.Name, "/")
		if slices.Contains(containerfiles, f.Name) {
			continue
		}
		if isDir {
			top += "/"
		}
		tops[top] = true
		files = append(files, f)
	}
	text, err := i.containerfile(ctx, slices.Sorted(maps.Keys(tops)))
	if err != nil {
		return nil, err
	}
	for _, name := range containerfiles {
		files = append(files, mcpb.Bytes(name, false, []byte(text)))
	}
	for _, bin := range i.Binaries {
		i.r.Images = append(i.r.Images, PlatformImage{Platform: bin.OS + "/" + bin.Arch})
	}
	return files, nil
}

var (
	beginsStage = lazyregexp.New(`(?im)^[ \t]*FROM[ \t]`)
	packageName = lazyregexp.New(`^[a-z0-9][a-z0-9+.-]+$`)
)

// containerfile returns the project's Containerfile, or a default one. Its stage mcp-bash contains the server and the
// project.
func (i *maker) containerfile(ctx context.Context, tops []string) (string, error) {
	text := "# Files for: COPY --from=mcp-bash / /\n" +
		"FROM scratch AS mcp-bash\nCOPY " + runtimes.Dir + " " + imageHome + "\n"
	for _, top := range tops {
		text += fmt.Sprintf("COPY [%s, %s]\n", rawjson.Quote(top), rawjson.Quote(imageProject+"/"+top))
	}
	for _, name := range containerfiles {
		own, err := i.Project.ReadFile(filepath.Join(i.Project.Root, name), 1<<20)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		at := beginsStage.FindIndex(own)
		switch {
		case err != nil:
		case at == nil:
			err = errors.New("no line begins with FROM")
		case i.o.Base != "" || len(i.o.Packages) > 0:
			err = errors.New("it decides about the base and its packages; leave out --base and --package")
		default:
			return string(own[:at[0]]) + text + "\n" + string(own[at[0]:]), nil
		}
		return "", i.Reject(stage.ErrValidation, fmt.Errorf("%s: %w", name, err))
	}
	base, err := i.chooseBase(ctx)
	if err != nil {
		return "", err
	}
	packages := append([]string{"ca-certificates"}, i.o.Packages...)
	for _, d := range i.needs {
		packages = append(packages, packagesOf(d)[0])
	}
	for _, name := range packages {
		if !packageName.MatchString(name) {
			return "", i.Reject(stage.ErrValidation, fmt.Errorf("%q is not the name of a Debian package", name))
		}
	}
	slices.Sort(packages)
	settings, labels := "", i.labels()
	for _, variable := range i.environment() {
		name, value, _ := strings.Cut(variable, "=")
		settings += "ENV " + name + "=" + quoted(value) + "\n"
	}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		settings += "LABEL " + name + "=" + quoted(labels[name]) + "\n"
	}
	return text + "\n" + strings.NewReplacer("{base}", base, "{packages}", strings.Join(slices.Compact(packages), " "),
		"{user}", fmt.Sprint(imageUser), "{home}", imageUserHome, "{project}", imageProject, "{program}", imageProgram,
		"{port}", fmt.Sprint(imagePort), "{settings}", settings).Replace(template), nil
}

// quoted returns a value in which engines replace no variable.
func quoted(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "\n", " ", "\r", " ").Replace(value) + `"`
}

// debianBase is the default base of a Containerfile. Its digest changes with Debian's updates.
const debianBase = "debian:stable-slim"

// chooseBase returns the base image: the one of --base, or [debianBase] with its current digest.
func (i *maker) chooseBase(ctx context.Context) (string, error) {
	if i.o.Base != "" {
		err := weburl.CheckImage(i.o.Base)
		if err != nil {
			err = i.Reject(stage.ErrConfiguration, fmt.Errorf("--base %q: %w", i.o.Base, err))
		}
		return i.o.Base, err
	}
	digest, err := "", errors.New("its digest is not known, because of --offline")
	if !i.Offline {
		digest, err = askDigest(ctx, web.Client{}, "https://auth.docker.io", "https://registry-1.docker.io")
	}
	if err != nil {
		return "", i.packagesFailed(ctx, fmt.Errorf("%s: %w; name a base with --base", debianBase, err))
	}
	return debianBase + "@" + digest, nil
}

// askDigest asks a registry for the digest of [debianBase].
func askDigest(ctx context.Context, client web.Client, tokens, images string) (string, error) {
	const scope = "/token?service=registry.docker.io&scope=repository:library/debian:pull"
	token, err := client.Get(ctx, tokens+scope, 1<<20)
	if err != nil {
		return "", err
	}
	status, index, err := client.Do(ctx, &web.Request{Method: "GET", Limit: 1 << 20,
		URL: images + "/v2/library/debian/manifests/stable-slim", Header: map[string]string{
			"Authorization": "Bearer " + rawjson.TextOf(token, "token"), "Accept": "application/vnd.oci.image.index.v1+json"}})
	if err == nil && status != 200 {
		err = fmt.Errorf("%s: HTTP status %d", images, status)
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(index)), err
}
