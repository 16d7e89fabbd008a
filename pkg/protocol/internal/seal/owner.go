package seal

import "crypto/rand"

// A Process is the random number of a process. A process that is started again has another one.
type Process [16]byte

// An Owner is the process that has something for a client, such as a suspended call. The zero Owner is this
// process, or none that is known.
type Owner struct {
	Process Process
	URL     string // where other replicas reach the process
}

// A Self is this process, and what it seals.
type Self struct {
	Owner
	Sealer Sealer
}

// NewSelf returns a process with these keys, and a new number.
func NewSelf(keys [][]byte, url string) Self {
	s := Self{Owner{URL: url}, New(keys)}
	rand.Read(s.Process[:]) // never fails
	return s
}

// Elsewhere returns an owner that is another replica. It returns the zero Owner for this process, and for
// one that had its address before.
func (s Self) Elsewhere(o Owner) Owner {
	if o.URL == "" || o.Process == s.Process || o.URL == s.URL {
		return Owner{}
	}
	return o
}

// Name returns the sealed number and URL of this process. [Self.Find] needs the same bound.
func (s Self) Name(bound string) string {
	return s.Sealer.Seal(append(s.Process[:], s.URL...), []byte(bound))
}

// Find returns the replica of a name. It returns the zero Owner for the name of this process, and for a text
// that is not a name with this bound.
func (s Self) Find(name, bound string) Owner {
	const size = len(Process{})
	text, err := s.Sealer.Open(name, []byte(bound), size+1, size+MaxURL)
	if err != nil {
		return Owner{}
	}
	return s.Elsewhere(Owner{Process(text[:size]), string(text[size:])})
}
