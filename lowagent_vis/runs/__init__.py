"""Runs: many episodes, stored so that nothing is lost."""
