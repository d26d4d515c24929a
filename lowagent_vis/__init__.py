"""Measures how well vision-language models act as web agents in low-resource languages."""
