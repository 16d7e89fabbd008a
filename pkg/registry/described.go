package registry

// isDescribed reports whether somebody has described a file: in a metadata file beside it, or in an inline header.
func isDescribed(dir folder, file string) bool {
	read := func(name string, limit int) []byte {
		f, err := dir.openFile(name)
		if err != nil {
			return nil
		}
		defer f.close()
		text := make([]byte, min(f.stamp.size, uint64(limit)))
		n, _ := f.read(text)
		return text[:n]
	}
	for _, name := range metaNames(file) {
		if name != "" {
			if _, _, err := parseMetadata(read(name, metaMax)); err == nil {
				return true
			}
		}
	}
	head, _ := headOf(read(file, headMax))
	return parseHeader(head) != nil
}
