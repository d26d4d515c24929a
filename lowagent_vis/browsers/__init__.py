"""Browsers: how a page is fetched and how it is drawn."""
