"""Commands that change resources: the verbs of each resource."""
