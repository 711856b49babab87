"""`evolve program export`, `verify` and `publish`: programs that leave the machine with everything that their scores rest on. docs/inspecting.md explains them."""
