package events

// A Sink takes events. Its methods are safe for concurrent use. A sink may keep nothing of an event after its return.
type Sink interface {
	// Emit takes an event. An error means that the event must be recorded and cannot be.
	Emit(e *Event) error
	// Ready returns the error that Emit would return now.
	Ready() error
}

// Sinks gives each event to several sinks, in their order.
type Sinks []Sink

// Emit implements [Sink]. All sinks get the event. The error is the first one.
func (s Sinks) Emit(e *Event) (err error) {
	for _, sink := range s {
		if e := sink.Emit(e); err == nil {
			err = e
		}
	}
	return err
}

// Ready implements [Sink].
func (s Sinks) Ready() error {
	for _, sink := range s {
		if err := sink.Ready(); err != nil {
			return err
		}
	}
	return nil
}
