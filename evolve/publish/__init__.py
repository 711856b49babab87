"""Programs that leave the machine: exported, published, verified.

Invariant: what is exported can be judged again from nothing but itself and this package."""
