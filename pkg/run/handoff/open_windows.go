package handoff

const nonblock = 0
