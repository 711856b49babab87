"""What a score may depend on beside the program."""

import platform

from evolve.judge.machine import environment, hardware


def test_the_hardware_class_is_the_processors_model_and_its_cores(tmp_path):
    """As Linux tells it."""
    information = tmp_path / "cpuinfo"
    information.write_text(
        "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nprocessor\t: 1\nmodel name\t: Some CPU @ 2 GHz\n"
    )
    assert hardware(information).startswith("Some CPU @ 2 GHz, ")
    assert hardware(information).endswith(" cores")


def test_the_hardware_class_needs_no_proc(tmp_path):
    """Elsewhere the platform's word is taken."""
    assert hardware(tmp_path / "none").startswith(platform.processor() or platform.machine())


def test_the_environment_names_what_is_installed():
    """And leaves out what is not."""
    assert environment(("no-such-package",)) == f"python {platform.python_version()}"
    assert environment().startswith(f"python {platform.python_version()}, numpy ")
