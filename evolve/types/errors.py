"""Every error that a user can cause or meet. A message says what is wrong, what was got, and what to do.

    EvolveError
    ├── ConfigError     settings, command line, campaign files
    ├── TaskError       a task folder, its seed or its evaluator
    ├── PluginError     a plugin that does not load or breaks its contract
    ├── ModelError      a model that does not answer
    ├── EditError       a reply or an edit that cannot be applied
    ├── SandboxError    a judge or candidate process that cannot be started
    └── StoreError      the log: locked, read-only, full, corrupt, newer

A failed *program* is not an error: it is an `Outcome`.
"""


class EvolveError(Exception):
    """The root of everything that is reported as one clear message, without a traceback."""


class ConfigError(EvolveError):
    """Settings that cannot be used."""


class TaskError(EvolveError):
    """A task that cannot be used."""


class PluginError(EvolveError):
    """A plugin that cannot be used."""


class ModelError(EvolveError):
    """A model that does not answer."""


class EditError(EvolveError):
    """An edit that cannot be applied to its program."""


class SandboxError(EvolveError):
    """A judge or candidate process that cannot be started or kept."""


class StoreError(EvolveError):
    """A log that cannot be opened, read or written."""
