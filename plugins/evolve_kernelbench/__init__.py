"""PyTorch modules as tasks: `evolve task import kernelbench` makes one of each file in KernelBench's convention (https://arxiv.org/abs/2502.10517).

A file defines `Model`, `get_inputs()` and `get_init_inputs()`; programs define `ModelNew`, which answers the same and is faster. The evaluator `benchmark` times both in pairs; what is right is computed here, in
double precision, in the worker. On the processor alone: a GPU is not used."""
