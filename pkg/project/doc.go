// Package project opens a project: its directories, environment, settings and metadata. It also has the installation
// tree for scripts, and the private directory of a run.
//
// [FindRoot] finds the directory and [Open] makes a [Project] of it, which does not change afterwards. An [Env] is the
// environment of one run, and its [Settings] are read from it once. A [Home] is the tree with the SDK that scripts
// source. A [State] is the private directory of one run, which the first script creates.
package project
