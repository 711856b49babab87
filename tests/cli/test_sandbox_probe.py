"""`evolve sandbox probe`."""

import json
from collections.abc import Callable

import pytest
from click.testing import Result

from evolve.cli import sandbox
from evolve.sandbox.machine.host import Host
from evolve.sandbox.machine.offer import ProbeResult, offer

REFUSED = Host(
    "linux", "x86_64", namespaces="unshare: Operation not permitted", landlock=7, seccomp=True, container=True
)


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """A container that refuses namespaces; what was asked of its probe."""
    asked: list[tuple[str, bool]] = []
    monkeypatch.delenv("EVOLVE_SANDBOX", raising=False)

    def probe(python: str, *, fresh: bool) -> ProbeResult:
        asked.append((python, fresh))
        offered = offer(REFUSED)
        return ProbeResult(python or "python", offered.means, offered.findings)

    monkeypatch.setattr(sandbox, "probe", probe)
    return asked


def test_the_page_says_what_is_had_and_what_to_do_about_the_rest(
    call: Callable[..., Result], refused: list[tuple[str, bool]]
) -> None:
    """The level first; nothing that was tried before is believed."""
    shown = call("sandbox", "probe", "--python", "mine")
    assert shown.exit_code == 0
    assert shown.stdout.startswith(
        "isolation  standard: landlock 7, seccomp, memory watched. No namespaces (the kernel"
    )
    for line in (
        "python     mine",
        "seccomp     had      a filter for x86_64",
        "landlock    had      version 7",
        "  namespaces: on a machine or virtual machine that holds nothing of value, start the container with",
        "  cgroup: none is needed",
        "read a file of the host                                                     held",
    ):
        assert f"\n{line}" in shown.stdout
    assert (
        "\nnamespaces  missing  the kernel refuses them: unshare: Operation not permitted, in a container"
        in shown.stdout
    )
    assert refused == [("mine", True)]


def test_the_object_has_each_mean_with_cause_and_remedy(
    call: Callable[..., Result], refused: list[tuple[str, bool]]
) -> None:
    """One line of JSON."""
    told = json.loads(call("sandbox", "probe", "--json").stdout)
    assert (told["level"], told["isolation"]) == ("standard", "standard: landlock 7, seccomp, memory watched")
    means = {mean["mean"]: (mean["had"], bool(mean["cause"]), bool(mean["remedy"])) for mean in told["means"]}
    had, missing = (True, False, False), (False, True, True)
    assert means == {
        "namespaces": missing,
        "seccomp": had,
        "landlock": had,
        "cgroup": missing,
    }


@pytest.mark.integration
def test_this_machine_is_probed(call: Callable[..., Result]) -> None:
    """Whatever it has."""
    told = json.loads(call("sandbox", "probe", "--json").stdout)
    assert told["isolation"].startswith(told["level"])


def test_a_level_that_is_asked_for_and_not_reached_is_an_error(
    call: Callable[..., Result], refused: list[tuple[str, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the page, with the remedy."""
    monkeypatch.setenv("EVOLVE_SANDBOX", "strict")
    shown = call("sandbox", "probe")
    assert (shown.exit_code, shown.stdout.startswith("isolation  standard")) == (1, True)
    assert "isolated at least at 'strict', and this machine reaches 'standard': no namespaces" in shown.stderr
