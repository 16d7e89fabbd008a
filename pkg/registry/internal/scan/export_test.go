package scan

import "mcp-bash/pkg/files/folder"

// Fresh returns the paths of the directories that the scan had to visit.
func (s *Result) Fresh() (paths []string) {
	for i := range s.records {
		if s.records[i].fresh {
			paths = append(paths, s.records[i].path)
		}
	}
	return paths
}

// ByStamp reports whether the stamp of a directory in dir shows that the directory is
// unchanged.
func (s *Result) ByStamp(dir folder.Dir, name string) bool {
	return s.record(0, name).sameStamp(dir, name)
}
