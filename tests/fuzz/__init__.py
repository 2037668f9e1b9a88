"""Random cases for everything that takes input from outside: `make fuzz` runs them by the hundred
thousand, `make test` some of them."""
