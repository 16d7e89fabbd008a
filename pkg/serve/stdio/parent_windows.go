package stdio

// watchParent does nothing on Windows, where a process keeps the number of an ended parent
// (P-1002).
func (c *Connection) watchParent() {}
