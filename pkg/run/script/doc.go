// Package script is the one place where a process is started. It runs a script
// in a session and process group of its own, gathers what it prints within bounds, and
// sees to its end: when it is told to, when a bound is crossed, and, as far as
// the system allows, when this process itself is killed.
//
// What is promised about processes that outlive their time:
//
//   - On every end that this process can act on, the script and everything
//     left in its process group gets SIGTERM and, after a grace, SIGKILL.
//   - What a script that ended by itself left in its group runs on until [Runner.End]: see left_unix.go.
//   - When this process is killed with SIGKILL, Linux kills the whole group:
//     see lifeline_linux.go. Elsewhere the script learns of it when it writes.
//   - A process that leaves the group (setsid) is out of reach everywhere.
//   - On Windows the script runs in a job object, which the system ends with us.
package script
