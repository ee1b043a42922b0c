//go:build tools

// Package h2spec pins the client that tries all that HTTP/2 forbids. Nothing here is compiled as it
// stands: the build names the program.
package h2spec

import _ "github.com/summerwind/h2spec/cmd/h2spec"
