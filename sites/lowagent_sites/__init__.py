"""The benchmark's websites: ordinary Flask applications, one per site and language."""
