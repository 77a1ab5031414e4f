package source

const nonblock = 0
