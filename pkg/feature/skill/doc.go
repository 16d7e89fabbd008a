// Package skill finds and reads the skills of a project. A skill is a folder skills/NAME with a file SKILL.md, which
// has instructions for agents, and other files. Clients get them by the extension io.modelcontextprotocol/skills
// (SEP-2640).
package skill
