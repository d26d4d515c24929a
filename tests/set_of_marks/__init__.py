"""Tests of the stand-alone package of marks."""
