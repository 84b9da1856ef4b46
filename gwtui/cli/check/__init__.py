"""``gwtui check``: the state of the gateway for a monitoring system, in one line."""
