// Package dangers runs command lines that write, delete, send or start something, with the tools that wrap makes of the
// programs' help texts.
package dangers
