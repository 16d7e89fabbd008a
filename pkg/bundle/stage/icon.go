package stage

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/files/fsys"
)

// MaxPicture is the maximum size of a picture in a product, in bytes.
const MaxPicture = 16 << 20

const pngSignature = "\x89PNG\r\n\x1a\n"

// AddIcon adds icon.png, or else icon.svg. It returns the name of an icon that all clients can show, or "".
func (s *Stage) AddIcon() (string, error) {
	for _, name := range []string{"icon.png", "icon.svg"} {
		content, err := s.Project.ReadFile(filepath.Join(s.Project.Root, name), MaxPicture)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			s.Warn("%s: %s; left out", name, fsys.Cause(err))
			continue
		case name == "icon.png" && !strings.HasPrefix(string(content), pngSignature):
			s.Warn("icon.png is not a PNG picture; left out")
			continue
		}
		if ok, err := s.AddNamed(name, name); err != nil {
			return "", err
		} else if !ok {
			continue
		}
		s.Done("Included icon: %s", name)
		if name == "icon.png" {
			return name, nil
		}
		s.Warn("icon.svg is not named in the manifest: clients take PNG; add icon.png (512x512)")
	}
	return "", nil
}
