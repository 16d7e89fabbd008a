package adopt

import (
	"slices"
	"testing"
)

// ADD-25: the descriptions of scripts in other languages.
func TestHeadOf(t *testing.T) {
	const want = "Prints a report."
	for _, text := range []string{
		"#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n\"\"\"Prints a report.\n\nMore.\"\"\"\nimport x\n",
		"#!/usr/bin/env python3\n# Copyright 2020 Me\n\n'''\nPrints a report.\n'''\n",
		"#!/usr/bin/env python3\n\"\"\"report.py - Prints a report.\"\"\"\n",
		"#!/usr/bin/env node\n// Prints a report.\nconst x = 1\n", "#!/usr/bin/env node\n/*\n * Prints a report.\n */\nx()\n",
		"#!/usr/bin/perl\n# Usage: report\n#\n# Prints a report.\nuse strict;\n",
	} {
		if got := headOf([]byte(text)); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	if got := headOf([]byte("#!/usr/bin/perl\nuse strict;\n# Not this.\n")); got != "" {
		t.Error(got)
	}
}

// ADD-32: a script of another language that starts git may read the settings of git.
func TestSettingsOfOtherLanguages(t *testing.T) {
	for text, want := range map[string]bool{
		`subprocess.run(["git", "log"])`: true, `subprocess.run(['git', '-C', repo])`: true, "out = `git log`": true,
		`execSync("git status")`: true, `my @l = qx(git log);`: true, `l = %x{git log}`: true,
		`print("digit", git)`: false, `print("gitlab")`: false, "": false,
	} {
		list := other([]byte("#!/usr/bin/env x\n" + text + "\n")).Effects.Settings
		if slices.Contains(list, "~/.gitconfig") != want || len(list) > 2 {
			t.Errorf("%s: %q", text, list)
		}
	}
}
