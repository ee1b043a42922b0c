//go:build tools

// Package contour pins the gateway of the test cluster. Nothing here is compiled as it stands: the
// build names the program.
package contour

import _ "github.com/projectcontour/contour/cmd/contour"
