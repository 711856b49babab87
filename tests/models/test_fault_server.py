import json
import subprocess
import sys
import urllib.request

import pytest

from tests.models.asking import ask, asked_of
from tests.models.fault_server import FaultServer

pytestmark = pytest.mark.integration


def test_it_runs_as_a_program_and_ends_with_who_started_it():
    command = [sys.executable, "-m", "tests.models.fault_server", "--steps", '[{"status": 503}]', "--text", "hi"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        url = program.stdout.readline().strip()
        with FaultServer() as unused, asked_of(unused, base_url=url) as model:
            (reply,) = ask(model)
        with urllib.request.urlopen(url.removesuffix("/v1") + "/counts") as counted:
            counts = json.load(counted)
        assert program.communicate(timeout=10)[0] == ""
    assert (reply.text, reply.attempts, counts["requests"], program.returncode) == ("hi", 2, 2, 0)


def test_it_listens_on_the_same_port_again():
    with FaultServer() as server:
        url = server.url
        server.stop()
        server.start()
        assert server.url == url
