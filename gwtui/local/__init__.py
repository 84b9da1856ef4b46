"""What lives on this machine: directories, profiles, token sources, the ledger of writes."""
