// Package activation takes over a socket that a service manager has opened, such as systemd with a socket unit. It
// implements sd_listen_fds(3). LISTEN_PID is the process that gets the sockets, LISTEN_FDS is their number. The first
// one is descriptor 3.
package activation
