"""Cores and GPUs of this machine, and leases on them.

Standard library only, because evaluation workers use it in a task's own Python. Invariant: what is leased to one process is leased to no other one of this user, and a
lease ends with its process, however that ends."""

from evolve.devices.gpus import Gpu, device_names, find_gpus, visibility
from evolve.devices.grant import EVERYTHING, Grant, filter_gpus, parse
from evolve.devices.leases import Holder, Lease, Leases, Locks, holders, leases_folder

__all__ = [
    "EVERYTHING",
    "Gpu",
    "Grant",
    "Holder",
    "Lease",
    "Leases",
    "Locks",
    "device_names",
    "find_gpus",
    "filter_gpus",
    "holders",
    "leases_folder",
    "parse",
    "visibility",
]
