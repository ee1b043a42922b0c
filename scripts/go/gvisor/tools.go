//go:build tools

// Package gvisor pins the programs of gVisor that labs and the test cluster start. Nothing here is
// compiled as it stands: the build names the programs one by one.
package gvisor

import (
	_ "gvisor.dev/gvisor/runsc"
	_ "gvisor.dev/gvisor/shim"
)
