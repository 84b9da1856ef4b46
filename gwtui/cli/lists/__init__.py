"""Read lists and single resources without the dashboard."""
