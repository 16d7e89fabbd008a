package tool

const nonblock = 0
