"""What is watched as metrics for Prometheus: names, the latest readings, their exposition."""
