package declare

import (
	"errors"
	"io"
	"os"

	"mcp-bash/pkg/files/folder"
)

// A callsFile is the file to which register.sh writes its calls. It is opened before the
// script starts and read by its descriptor. So a file that the script puts in its place
// cannot block the reader.
type callsFile struct{ *os.File }

func newCallsFile(path string) (*callsFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &callsFile{f}, nil
}

// within returns [folder.ErrTooLarge] if the file is larger than a limit.
func (f *callsFile) within(limit int) error {
	info, err := f.Stat()
	if err == nil && info.Size() > int64(limit) {
		err = folder.ErrTooLarge
	}
	return err
}

// read returns the calls. It returns an error if the script has removed or replaced the
// file, because calls may be missing.
func (f *callsFile) read(limit int) ([]byte, error) {
	if err := f.within(limit); err != nil {
		return nil, err
	}
	ours, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if there, err := os.Lstat(f.Name()); err != nil || !os.SameFile(ours, there) {
		return nil, errors.New("it removed or replaced the file that its calls are written to; leave MCPBASH_STATE_DIR alone")
	}
	text, err := io.ReadAll(io.NewSectionReader(f, 0, int64(limit)+1))
	if err == nil && len(text) > limit {
		err = folder.ErrTooLarge
	}
	return text, err
}

func (f *callsFile) remove() {
	f.Close()
	os.Remove(f.Name())
}
