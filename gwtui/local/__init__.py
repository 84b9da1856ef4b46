"""What lives on this machine: directories, profiles, token sources, the journal of writes."""
