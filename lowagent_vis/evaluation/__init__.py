"""Evaluation: a verdict from the answer and the database, never from a model."""
