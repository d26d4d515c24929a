"""Tests of how pages are fetched and drawn."""
