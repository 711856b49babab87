"""From what a model answered to programs, and from two programs to the edit that leads from one to the other.

Invariant: only what is inside the blocks changes; an edit that fits nowhere, or in two places, is an error that says so and no guess."""
