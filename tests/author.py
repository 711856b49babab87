"""Someone who writes a package for evolve: a folder with an environment of its own, in which the engine and that package are installed."""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path


class Author:
    """The environment is made without a network: it borrows the packages of the tests' own."""

    def __init__(self, folder: Path, package: str) -> None:
        self.folder = folder
        self.package = folder / package
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True, timeout=60)
        (site,) = (folder / "venv").glob("lib/python*/site-packages")
        (site / "borrowed.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")

    def python(self, *words: str, folder: Path | None = None) -> "subprocess.CompletedProcess[str]":
        """The environment's interpreter, in the package's folder where no other is named."""
        environment = {key: value for key, value in os.environ.items() if key not in ("EVOLVE_DEBUG", "PYTHONPATH")}
        return subprocess.run(
            [str(self.folder / "venv" / "bin" / "python"), *words],
            cwd=folder or self.package,
            env={**environment, "EVOLVE_HOME": str(self.folder / "home")},
            capture_output=True,
            text=True,
            timeout=120,
        )

    def says(self, module: str, *words: str, folder: Path | None = None) -> str:
        """What a command that succeeds prints."""
        done = self.python("-m", module, *words, folder=folder)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    def evolve(self, *words: str, folder: Path | None = None) -> str:
        """What a command of the engine prints."""
        return self.says("evolve", *words, folder=folder)

    def write_files(self, chapter: str) -> None:
        """The files that a chapter of the documentation shows, each in a fence below its name."""
        for name, text in re.findall(r"`([\w./-]+)`:\n\n```\w+\n(.*?)^```$", chapter, re.MULTILINE | re.DOTALL):
            path = self.package / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")

    def install(self) -> None:
        """The package, as `pip install -e .` does."""
        alone = ("--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--no-index")
        self.says("pip", "install", *alone, "--editable", ".")
