"""`evolve program export`, `verify` and `publish`: programs that leave the machine with everything that their scores rest on; and `evolve campaign export`: answers of models
as training data. docs/inspecting.md explains them."""
