"""`make matrix`: the plugin in environments as its users have them, built anew and tried out."""
