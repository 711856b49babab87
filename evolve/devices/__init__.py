"""Cores and GPUs of this machine, and leases on them.

Standard library only, because evaluation workers use it in a task's own Python. Invariant: what is leased to one process is leased to no other one of this user, and a
lease ends with its process, however that ends."""

from evolve.devices.inventory import Gpu, device_names, find_gpus, visibility
from evolve.devices.leases import (
    EVERYTHING,
    Grant,
    Holder,
    Lease,
    Leases,
    Locks,
    filter_gpus,
    holders,
    leases_folder,
    parse,
)

__all__ = [
    "EVERYTHING",
    "Gpu",
    "Grant",
    "Holder",
    "Lease",
    "Leases",
    "Locks",
    "device_names",
    "filter_gpus",
    "find_gpus",
    "holders",
    "leases_folder",
    "parse",
    "visibility",
]
