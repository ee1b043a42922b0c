//! The testbed of network namespaces on this machine.
