//go:build tools

// Package ghz pins the load generator of gRPC that `make bench` compares with. Nothing here is
// compiled as it stands: the build names the program.
package ghz

import _ "github.com/bojand/ghz/cmd/ghz"
