// Package seal makes and checks seals of a record with a key that moves forward.
//
// The [Key] of an epoch seals one line, and with it all lines before. The key of the next epoch then replaces it. It
// follows from the one before by a one-way function, so an attacker with the current key cannot make earlier seals.
// The key of the first epoch checks all seals: it is kept elsewhere, and a server has only a [File].
package seal

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"

	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/secretfile"
)

// A Key is the key of an epoch.
type Key struct {
	Epoch  int // from 1
	secret [sha256.Size]byte
}

// Next returns the key of the next epoch.
func (k Key) Next() Key { return Key{k.Epoch + 1, k.hash("next", nil)} }

func (k Key) hash(purpose string, text []byte) [sha256.Size]byte {
	h := hmac.New(sha256.New, k.secret[:])
	h.Write([]byte(purpose))
	h.Write(text)
	return [sha256.Size]byte(h.Sum(nil))
}

var end = []byte("}}")

// Seal appends the epoch and the seal of all bytes before it to the chain, which is the last member of a line.
func (k Key) Seal(line []byte) []byte {
	line = fmt.Appendf(bytes.TrimSuffix(line, end), `,"epoch":%d`, k.Epoch)
	return fmt.Appendf(line, `,"hmac":"%x"}}`, k.hash("seal", line))
}

// Made reports whether Seal made the end of a line.
func (k Key) Made(line []byte) bool {
	at := max(bytes.LastIndex(line, []byte(`,"epoch":`)), 0)
	return hmac.Equal(line, k.Seal(append(bytes.Clone(line[:at]), end...)))
}

// Text returns the text of a key in files. It is short enough that a disk writes it as a whole.
func (k Key) Text() string { return fmt.Sprintf("mcp-bash audit key %010d %x\n", k.Epoch, k.secret) }

// Parse returns the key of a text.
func Parse(text []byte) (k Key, err error) {
	var secret []byte
	fmt.Sscanf(string(text), "mcp-bash audit key %d %x", &k.Epoch, &secret)
	copy(k.secret[:], secret)
	if k.Epoch < 1 || k.Text() != string(text) {
		return Key{}, errors.New("it is not a key of mcp-bash audit keygen")
	}
	return k, nil
}

var rule = secretfile.Rule{Max: 1024, Secret: true}

// Read returns the key of a file.
func Read(path string) (Key, error) {
	text, _, err := rule.Read(path)
	if err != nil {
		return Key{}, err
	}
	return Parse(text)
}

// A File has the current key of a server.
type File struct {
	Key
	f *os.File
}

// Create makes the file of a new key, and returns the key.
func Create(path string) (Key, error) {
	k := Key{Epoch: 1}
	rand.Read(k.secret[:]) // never fails
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return k, err
	}
	defer f.Close()
	return k, (&File{k, f}).write()
}

// Open opens the file of a key. No other server can open it until Close.
func Open(path string) (*File, error) {
	if _, err := Read(path); err != nil { // also checks who can change it
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	locked, err := atomicfile.TryLock(f)
	if err == nil && !locked {
		err = errors.New("another server seals with it; make a key for each server")
	}
	k := Key{}
	if err == nil {
		k, err = Read(path) // after the other server
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &File{k, f}, nil
}

// Forward replaces the key by the next one. The file then has nothing of the last key.
func (f *File) Forward() error {
	f.Key = f.Next()
	return f.write()
}

func (f *File) write() error {
	if _, err := f.f.WriteAt([]byte(f.Text()), 0); err != nil {
		return err
	}
	return f.f.Sync()
}

// Close releases the file.
func (f *File) Close() error { return f.f.Close() }
