# Contour: an implementation of the Gateway API, for the test cluster. Sourced by go-part.sh.
# shellcheck shell=bash disable=SC2034
main=github.com/projectcontour/contour
packages=(github.com/projectcontour/contour/cmd/contour)
