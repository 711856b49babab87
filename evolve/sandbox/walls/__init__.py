"""The layers that confine a candidate, one file each, and `confinement`, which puts a forked process behind all of them.

Standard library only, for they are used in a slot's own processes. A layer says what it does in one place, and what it cannot do
stands in its docstring, beside the layer that does it instead."""
