"""Settings of the operator `agent`."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

LEAST, LONGEST = 10.0, 3600.0
"""Seconds of an agent."""


class AgentSettings(BaseModel):
    """Settings of `agent`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    argv: tuple[str, ...] = Field(default=("{python}", "{agent}", "{task}"), min_length=1)
    """The command. `{task}` in it is the name of the file with the task, `{python}` the interpreter, and `{agent}` a small agent that comes with evolve."""
    python: str = ""
    """Interpreter of the environment in which the agent is installed; empty: the engine's."""
    seconds: float = Field(default=1200.0, ge=LEAST, le=LONGEST)
    """Time in which the agent may begin things."""
    calls: int = Field(default=50, ge=1)
    """Calls of the model for one proposal at most."""
    evaluations: int = Field(default=10, ge=0)
    """Evaluations for one proposal at most."""
    read: tuple[str, ...] = ()
    """Files and folders that the agent may read beside those of the system and of its Python; nothing there is executed."""
    memory: int = Field(default=4 << 30, ge=64 << 20)
    """Bytes of address space of each process."""
    variables: Mapping[str, str] = Field(default_factory=dict)
    """Variables of its environment, beside `OPENAI_BASE_URL`, `OPENAI_API_KEY` and `EVOLVE_URL`; `{url}` in them is that of the last."""

    @field_validator("read", "python")
    @classmethod
    def _expand(cls, value: Any) -> Any:
        """Replaces `~`; refuses what is no absolute path."""
        if isinstance(value, tuple):
            return tuple(cls._expand(each) for each in value)
        path = Path(value).expanduser()
        if value and not path.is_absolute():
            raise ValueError(f"{value!r} is no absolute path")
        return str(path) if value else ""

    @field_validator("variables")
    @classmethod
    def _check_names(cls, value: Mapping[str, str]) -> Mapping[str, str]:
        wrong = [name for name, text in value.items() if not re.fullmatch(r"[A-Za-z_]\w*", name) or "\0" in text]
        if wrong:
            raise ValueError(f"{wrong[0]!r} is no variable of an environment")
        return value

    def find_missing(self) -> str:
        """Returns a path that is named and is not there."""
        return next((path for path in (self.python, *self.read) if path and not Path(path).exists()), "")
