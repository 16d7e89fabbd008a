// Package pictures compares the pictures in docs/pictures with what the commands print today.
// "make pictures" replaces them.
package pictures
