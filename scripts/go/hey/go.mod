module hopbench.test/hey

go 1.24.0

require github.com/rakyll/hey v0.1.5

require (
	golang.org/x/net v0.48.0 // indirect
	golang.org/x/text v0.33.0 // indirect
)
