"""Files and settings on this machine: directories, profiles, tokens, audit log, log file."""
