//go:build tools

// Package hey pins the load generator that `make bench` compares with. Nothing here is compiled as it stands: the
// build names the program.
package hey

import _ "github.com/rakyll/hey"
