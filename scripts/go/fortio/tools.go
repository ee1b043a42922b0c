//go:build tools

// Package fortio pins the load generator that `make bench` compares with. Nothing here is compiled
// as it stands: the build names the program.
package fortio

import _ "fortio.org/fortio"
