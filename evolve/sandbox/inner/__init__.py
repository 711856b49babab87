"""Modules of a slot's own processes, away from the worker: the process that makes the slot, the template in it, and the candidate's side of the
dialogue.

Standard library and siblings only. Nothing of the engine but this package, `walls` and the wire is ever loaded there."""

# The packages are made by hand, without their `__init__.py`: what these import is no business of a candidate's process.
BOOTSTRAP = """
def load(folder, module):
    import importlib, sys, types
    for name, place in (("evolve", folder), ("evolve.sandbox", folder + "/sandbox")):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [place]
    found = importlib.import_module(module)
    for name in [name for name in sys.modules if name.partition(".")[0] == "evolve"]:
        del sys.modules[name]
    return found
"""
"""Defines `load(folder, module)`, which imports a module of this package, whose folder is `folder`, and leaves no trace of evolve among the modules."""
