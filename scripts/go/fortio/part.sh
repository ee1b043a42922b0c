# fortio: an HTTP load generator that `make bench` compares with. Later versions need a module that
# is not always to be had. Sourced by go-part.sh.
# shellcheck shell=bash disable=SC2034
main=fortio.org/fortio
packages=(fortio.org/fortio)
