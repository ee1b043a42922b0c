# hey: an HTTP load generator that `make bench` compares with. Sourced by go-part.sh.
# shellcheck shell=bash disable=SC2034
main=github.com/rakyll/hey
packages=(github.com/rakyll/hey)
