"""Where the settings of a new campaign come from: a campaign file, then the words of the command line, then `--set`; the later wins.

Invariant: `source` names the place that `settings` took a value from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evolve.assignments import parse_assignment
from evolve.config import Settings, settings_from

COMMAND_LINE = "command line"


@dataclass(frozen=True, slots=True)
class Layers:
    """`file` and `words` are nested values in the shape of `Settings`; `name` is the file's."""

    words: Mapping[str, Any]
    assignments: tuple[str, ...] = ()
    file: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""

    def settings(self) -> Settings:
        """All of them together; raises `ConfigError`."""
        return settings_from(self._merged(), self.assignments)

    def of_file(self) -> "Layers":
        """What the file alone says, on the task that is meant: what is wrong with that is the file's fault."""
        return Layers({key: value for key, value in self.words.items() if key == "task"}, (), self.file, self.name)

    def source(self, key: str) -> str:
        """Where the value of a dotted key comes from; empty: it is the default."""
        for assignment in reversed(self.assignments):
            path, _ = parse_assignment(assignment)
            if key == ".".join(["parameters", *path[1:]] if path[0] == "task" else path):
                return f"--set {assignment}"
        for name, values in ((COMMAND_LINE, self.words), (self.name, self.file)):
            if key in _keys(values):
                return name
        return ""

    def _merged(self) -> dict[str, Any]:
        """The words in place of what the file says; another strategy takes nothing of the settings of the file's."""
        tree = {**self.file, **self.words}
        theirs, ours = self.file.get("strategy", {}), self.words.get("strategy")
        if ours is not None and ours["name"] == theirs.get("name", Settings.model_fields["strategy"].default.name):
            tree["strategy"] = {**theirs, **ours}
        if "trackers" in self.words:
            known = self.file.get("trackers", {}).get("settings", {})
            names = self.words["trackers"]["names"]
            tree["trackers"] = {"names": names, "settings": {name: known[name] for name in names if name in known}}
        if "models" in self.words:
            tree["models"] = {**self.file.get("models", {}), **self.words["models"]}
        return tree


def _keys(values: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in values.items():
        yield f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _keys(value, f"{prefix}{key}.")
