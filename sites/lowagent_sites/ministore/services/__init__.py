"""The rules of the shop, without Flask."""
