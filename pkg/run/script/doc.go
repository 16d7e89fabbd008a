// Package script is the only place that starts processes. It runs a script in its own session and
// process group and collects its output within limits. It ends the script when the caller asks for
// it, when a limit is exceeded, and, if the system permits, when this process is killed.
//
// Processes of a script end as follows:
//
//   - In every case where this process can act, the script and its group get SIGTERM. They get
//     SIGKILL after a grace period.
//   - Processes that remain in the group of an ended script run until [Runner.End]: see
//     left_unix.go.
//   - If this process is killed with SIGKILL, Linux kills the whole group: see lifeline_linux.go.
//     On other systems, the script notices it when it writes.
//   - A process that leaves the group (setsid) is never ended.
//   - On Windows the script runs in a job object, which ends with this process.
package script
