"""The command line. Data goes to stdout, narration to stderr; exit codes are in ``exits``."""
