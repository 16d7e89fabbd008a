package runtool

import "os"

var endSignals = []os.Signal{os.Interrupt}
