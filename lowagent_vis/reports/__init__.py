"""Reports: what a run says, read from its records only."""
