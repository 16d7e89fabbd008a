// Package activation takes over a socket that a service manager has opened, such as systemd with a socket unit. The
// protocol is that of sd_listen_fds(3): LISTEN_PID is the process that it is meant for, LISTEN_FDS the number of
// sockets, and the first socket is descriptor 3.
package activation
