package boundedfile

// NonBlock does nothing on Windows.
const NonBlock = 0
