"""Places of campaigns in a workspace: `archive/campaigns/NAME.db`. Nothing but the secret is made before a campaign is."""

import glob
import hmac
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from evolve.types import ConfigError
from evolve.types.errors import did_you_mean

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SECRET_BYTES = 32


def workspace() -> Path:
    """Returns the folder that holds `archive/`: `$EVOLVE_HOME` where it is set (`--workspace` sets it), else the current folder."""
    if os.environ.get("EVOLVE_HOME"):
        return Path(os.environ["EVOLVE_HOME"]).expanduser()
    return Path.cwd()


def campaigns(home: Path) -> list[Path]:
    """Returns the logs of a workspace, the one that was written last first; raises `ConfigError` where it cannot be read."""
    with _explain_errors(home):
        logs = (home / "archive" / "campaigns").glob("*.db")
        return sorted(logs, key=lambda path: path.stat().st_mtime_ns, reverse=True)


@contextmanager
def _explain_errors(home: Path) -> Iterator[None]:
    """Turns what the operating system says of a workspace into `ConfigError`."""
    try:
        yield
    except OSError as error:
        raise ConfigError(
            f"the workspace {home} cannot be used: {error.strerror}. Try: check the folder and its permissions and free space, or set EVOLVE_HOME to another one"
        ) from error


def log_path(home: Path, name: str) -> Path:
    """Returns the place of a campaign's log; raises `ConfigError` for a name that cannot be one."""
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"a campaign's name is letters, digits, dots, dashes and underscores (at most 100), got {name!r}. Try: choose another"
        )
    return home / "archive" / "campaigns" / f"{name}.db"


def logs(home: Path, log: Path | None = None) -> tuple[str, ...]:
    """Returns the paths that no candidate may see: all that a workspace keeps, there yet or not, and with a log that lies elsewhere its own files."""
    archive = home.absolute() / "archive"
    outside = log is not None and not log.resolve().is_relative_to(archive.resolve())
    beside = log.absolute().parent.glob(f"{glob.escape(log.stem)}.*") if log is not None and outside else ()
    return (str(archive), *sorted(map(str, beside)))


def secret_for(home: Path, task: str) -> str:
    """Derives the secret of campaigns on tasks of this name from the workspace's, `archive/secret`, which is made where there is none. Whoever learns it,
    as by an export, learns what is drawn for this task alone. Raises `ConfigError`."""
    path = home / "archive" / "secret"
    with _explain_errors(home):
        if not path.exists():
            _make_secret(path)
        secret = path.read_text("ascii", "replace").strip() if path.is_file() else ""
    if len(secret) < _SECRET_BYTES:
        raise ConfigError(f"{path} holds no secret. Try: delete it, and run again: another one is made")
    return hmac.new(secret.encode(), task.encode(), "sha256").hexdigest()


def _make_secret(path: Path) -> None:
    """Writes a file that its owner alone may read; that of another process, which came first, stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, draft = tempfile.mkstemp(prefix="secret.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{secrets.token_hex(_SECRET_BYTES)}\n")
        # A link never replaces the secret that another process made meanwhile.
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        Path(draft).unlink()


def new_path(home: Path, task: str, name: str | None) -> Path:
    """Returns the place of a new campaign: `name`, else the task's name (`softmax-triton` for `softmax/triton`) with the first free number. Nothing is made."""
    task = task.replace("/", "-")
    path = log_path(home, name or task)
    number = 2
    with _explain_errors(home):
        while path.exists():
            if name:
                raise ConfigError(
                    f"there is a campaign {name!r} already ({path}). Try: --continue {name}, or another --name"
                )
            path = log_path(home, f"{task}-{number}")
            number += 1
    return path


def remove_campaign(log: Path) -> None:
    """Deletes a campaign's log, its lock, and its inbox."""
    # By name: the dots in the names of campaigns make `NAME.*` match the logs of others.
    shutil.rmtree(log.with_name(f"{log.stem}.inbox"), ignore_errors=True)
    for end in ("-wal", "-shm", ".lock", ""):
        log.with_name(f"{log.name}{end}").unlink(missing_ok=True)


def existing_path(home: Path, name: str | None) -> Path:
    """Returns the log that `name` names (a campaign, or a path that ends in `.db`), or the one written last."""
    if name and name.endswith(".db") and Path(name).is_file():
        return Path(name)
    logs = campaigns(home)
    if name is None:
        if not logs:
            raise ConfigError(f"there is no campaign in {home}. Try: evolve run online_bin_packing --budget 60s")
        return logs[0]
    path = log_path(home, name)
    with _explain_errors(home):
        found = path.is_file()
    if not found:
        raise ConfigError(
            f"there is no campaign {name!r} in {home}.{did_you_mean(name, [log.stem for log in logs])} Try: `evolve campaign list` shows them"
        )
    return path
