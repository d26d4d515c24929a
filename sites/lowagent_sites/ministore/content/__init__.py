"""How the shop's content is made: facts once, texts per language, databases from both."""
