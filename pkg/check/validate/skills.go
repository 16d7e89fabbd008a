package validate

import (
	"path"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/feature/skill"
)

// skills checks the skills of the project (SK-13).
func (c *check) skills() {
	list, faults, err := skill.Read(skill.Dir(c.p.Root))
	if err != nil {
		c.add(finding.Finding{ID: "skill.invalid", Path: "skills", Message: err.Error()})
	}
	for _, s := range list {
		c.good("skill.valid", path.Join("skills", s.Name), "valid")
	}
	for _, f := range faults {
		c.add(finding.Finding{ID: "skill.invalid", Path: path.Join("skills", f.File), Message: f.Text})
	}
}
