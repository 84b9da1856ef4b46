"""Local files and settings: directories, profiles, token sources, the ledger of writes."""
