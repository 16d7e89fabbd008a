package adopt

import "testing"

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
