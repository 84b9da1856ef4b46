"""The command line. Data goes to stdout, messages to stderr; ``exits`` has the exit codes."""
