"""Groups of pages. Invariant: a module is one group, with its `ROUTES`; none knows another."""
