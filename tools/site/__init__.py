"""What mkdocs needs to build the site of the documentation from files that stay where they are."""
