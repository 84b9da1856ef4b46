"""Feeds: pollers that keep the last good value of a resource, its age and its error."""
