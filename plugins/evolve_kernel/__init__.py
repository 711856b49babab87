"""The evaluator `kernel`: the speed of a numerical function against the task's seed, measured in pairs.

A plugin as a third party would write it. Invariant: importing it looks for no compiler and no device."""
