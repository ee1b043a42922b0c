//! Scenario files: YAML in, a plan or a list of problems out.
