"""Reading without the dashboard: lists and single objects, for people and for programs."""
