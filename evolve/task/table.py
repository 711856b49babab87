"""What every table of `task.toml` has in common.

Invariant: an unknown key is an error, and no value is turned into another type."""

from pydantic import BaseModel, ConfigDict


class Table(BaseModel):
    """A table of `task.toml`."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
