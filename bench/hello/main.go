// Hello is the floor of a start: a program that prints a line.
package main

import "os"

func main() { os.Stdout.WriteString("hello 1.0.0\n") }
