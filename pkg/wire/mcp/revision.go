package mcp

// A Revision is a published revision of the handshake protocol, with the differences in the
// server's behaviour (P-805).
type Revision struct {
	Name         string
	ListChanged  bool // list_changed and completions are advertised and sent
	Instructions bool // initialize answers with instructions (P-806)
	Batches      bool // arrays of messages are accepted (P-600)
	BatchRefusal string
}

// Revisions are the supported revisions of the handshake protocol, newest first (P-800).
var Revisions = [...]Revision{
	{Name: "2025-11-25", ListChanged: true, Instructions: true,
		BatchRefusal: "Batch arrays are not allowed for protocol 2025-11-25"},
	{Name: "2025-06-18", ListChanged: true, Instructions: true,
		BatchRefusal: "Batch arrays are not allowed for protocol 2025-06-18"},
	{Name: "2025-03-26", Instructions: true, Batches: true},
	{Name: "2024-11-05", BatchRefusal: "Batch arrays are disabled"},
}

// Latest is the revision offered to a client that does not name one.
var Latest = &Revisions[0]

// RevisionNamed returns the revision with a name from [Revisions], or nil.
func RevisionNamed(name string) *Revision {
	for i := range Revisions {
		if Revisions[i].Name == name {
			return &Revisions[i]
		}
	}
	return nil
}
