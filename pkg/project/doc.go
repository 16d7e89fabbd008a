// Package project opens a project: its directories, environment, settings and metadata. It also has the installation
// tree for scripts, and the private directory of a run.
package project
