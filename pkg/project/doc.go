// Package project says where a project is and how it is set up: its
// directories, the environment that governs it, the settings read from that,
// server.d/server.meta.json, the installation tree scripts are given, and the
// private directory of a run.
package project
