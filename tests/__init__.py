"""Tests of the whole project, laid out as its packages."""
