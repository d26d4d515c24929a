"""What all sites share: application, languages, numbers, accounts, pages, databases."""
