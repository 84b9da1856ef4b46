"""Commands that read lists and single resources."""
