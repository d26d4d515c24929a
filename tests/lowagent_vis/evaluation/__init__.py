"""Tests of the evaluation, with a small shop in SQLite."""
