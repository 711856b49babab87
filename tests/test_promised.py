"""Where `EVOLVE_SANDBOX` promises a level, no test is left out for want of it."""

import pytest

from evolve.sandbox.machine.offer import MeanFinding, ProbeResult
from evolve.sandbox.means import PLAIN, Means
from tests.promised import broken_promise, not_here

STRICT = Means(namespaces=True, landlock=7, seccomp=True)
REFUSED = MeanFinding("namespaces", False, cause="the kernel refuses them", remedy="run as root")


@pytest.mark.parametrize(
    ("variable", "means", "told"),
    [
        ("", PLAIN, ""),
        ("reduced", PLAIN, ""),
        ("strict", STRICT, ""),
        (
            "strict",
            PLAIN,
            "isolated at least at 'strict', and this machine reaches 'reduced': no namespaces (the kernel refuses them)",
        ),
        ("stric", STRICT, "EVOLVE_SANDBOX is 'stric', which is no level of isolation"),
    ],
)
def test_a_machine_that_reaches_less_than_was_promised_is_told_of(variable: str, means: Means, told: str) -> None:
    """With its causes; nothing is said of any other."""
    broken = broken_promise(lambda: ProbeResult("python", means, (REFUSED,)), variable)
    assert (bool(broken), told in broken) == (bool(told), True)


def test_what_every_machine_reaches_is_not_looked_for() -> None:
    """So the tests start as fast as before where nothing is promised."""

    def probe() -> ProbeResult:
        raise AssertionError

    assert broken_promise(probe, "reduced") == ""


@pytest.mark.parametrize(
    ("promised", "outcome"), [("strict", pytest.fail.Exception), ("reduced", pytest.skip.Exception)]
)
def test_what_is_not_here_fails_a_test_where_it_was_promised(
    monkeypatch: pytest.MonkeyPatch, promised: str, outcome: type[BaseException]
) -> None:
    """Elsewhere it skips it."""
    monkeypatch.setenv("EVOLVE_SANDBOX", promised)
    with pytest.raises(outcome, match="there is no cc here"):
        not_here("there is no cc here")
