// Package lasting calls servers as often as wanted while faults disturb them, and checks every answer.
//
// A [Config] has a seed, and the seed decides the kind and the arguments of each call. It also decides which fault
// comes after how many calls. So the same seed gives the same plan. The kernel schedules scripts and
// servers, so it does not give the same moments.
//
// A run has rounds. Each round has a phase with faults and a quiet phase. In the quiet phase every call must succeed,
// and after it nothing may be left of what went on before. [Run] keeps each request with its answer, and compares
// them with the record of each server (package trail) at the end.
package lasting
