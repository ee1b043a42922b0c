# h2spec: a client that tries all that HTTP/2 forbids. The tests run it against our target. Sourced
# by go-part.sh.
# shellcheck shell=bash disable=SC2034
main=github.com/summerwind/h2spec
packages=(github.com/summerwind/h2spec/cmd/h2spec)
