"""Changes without the dashboard: the verbs of each resource, over the executor."""
