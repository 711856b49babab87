"""Cores and GPUs of this machine, and leases on them.

Standard library only, because evaluation workers use it in a task's own Python. Invariant: what is leased to one process is leased to no other one of this user, and a
lease ends with its process, however that ends."""
