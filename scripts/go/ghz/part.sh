# ghz: a load generator of gRPC that `make bench` compares with. Sourced by go-part.sh.
# shellcheck shell=bash disable=SC2034
main=github.com/bojand/ghz
packages=(github.com/bojand/ghz/cmd/ghz)
