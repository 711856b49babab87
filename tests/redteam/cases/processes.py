"""Candidates that multiply, hide, or outlive their evaluation."""

from evolve.sandbox.status import Status
from tests.redteam.case import Case

CASES = (
    Case(
        "proc.fork_bomb",
        "start 200 children",
        """
import os
import time
from guard import boxed

def attack(told):
    if not boxed(told):
        return ["not boxed"]
    started = 0
    try:
        for _ in range(200):
            if os.fork() == 0:
                time.sleep(5)
                os._exit(0)
            started += 1
    except OSError:
        pass
    return [f"started {started} children"] if started > 40 else []
""",
        must="stopped at the limit, nothing left",
        dangerous=True,
    ),
    Case(
        "proc.thread_bomb",
        "start 2,000 threads",
        """
import threading
from guard import boxed

def attack(told):
    if not boxed(told):
        return ["not boxed"]
    threading.stack_size(1 << 16)
    never = threading.Event()
    started = 0
    try:
        for _ in range(2000):
            threading.Thread(target=never.wait, daemon=True).start()
            started += 1
    except (RuntimeError, MemoryError):
        pass
    return [f"started {started} threads"] if started > 40 else []
""",
        must="stopped at the limit, nothing left",
        dangerous=True,
    ),
    Case(
        "proc.zombies",
        "leave 200 children that have ended and are not waited for",
        """
import os
from guard import boxed

def attack(told):
    if not boxed(told):
        return ["not boxed"]
    left = 0
    try:
        for _ in range(200):
            if os.fork() == 0:
                os._exit(0)
            left += 1
    except OSError:
        pass
    return [f"left {left} dead children"] if left > 40 else []
""",
        must="stopped at the limit, nothing left",
        dangerous=True,
    ),
    Case(
        "proc.daemonize",
        "leave a daemon: forked twice, in a session of its own, another program",
        """
import os
import time

def attack(told):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 64)
            os.execvp("sleep", ["sleep", "20"])
        os._exit(0)
    os.wait()
    time.sleep(0.1)
    return []
""",
        must="no survivor",
        harmless=True,
    ),
    Case(
        "proc.leave_stopped",
        "leave children that are stopped, each in a session of its own",
        """
import os
import signal
import time

def attack(told):
    for _ in range(5):
        if os.fork() == 0:
            os.setsid()
            try:
                os.kill(os.getpid(), signal.SIGSTOP)
            except PermissionError:
                time.sleep(100)
            os._exit(0)
    return []
""",
        must="no survivor",
    ),
    Case(
        "proc.chain",
        "leave a chain of processes, each of which starts the next and ends before it is found",
        """
import os
import time
from guard import boxed

def attack(told):
    if not boxed(told):
        return ["not boxed"]
    until = time.monotonic() + 10
    if os.fork() == 0:
        os.setsid()
        while time.monotonic() < until:
            try:
                if os.fork():
                    os._exit(0)
            except OSError:
                pass
        os._exit(0)
    return []
""",
        must="no survivor",
        dangerous=True,
        within=4.0,
    ),
    Case(
        "proc.stop_self",
        "stop itself and wait to be forgotten",
        """
import os
import signal

def attack(told):
    os.kill(os.getpid(), signal.SIGSTOP)
""",
        must="timeout",
        ends=frozenset({Status.TIMEOUT}),
        seconds=0.3,
        within=3.0,
    ),
    Case(
        "proc.exec_copy",
        "run a copy of the interpreter, to begin anew without limits",
        '''
import json
import os
import shutil
import subprocess
import sys
import guard

PROGRAM = """
import json, sys
sys.path.insert(0, ".")
from guard import boxed
print(["not confined", "confined"][boxed(json.loads(sys.argv[1]))])
"""

def attack(told):
    text = guard.__loader__.get_source("guard")
    with open("guard.py", "w") as copied:
        copied.write(text)
    try:
        shutil.copy(os.path.realpath(sys.executable), "copy")
        environment = {**os.environ, "PYTHONHOME": sys.base_prefix}
        ran = subprocess.run(["./copy", "-c", PROGRAM, json.dumps(told)], env=environment, capture_output=True, timeout=5)
    except OSError:
        return []
    return ["its copy is free of the box"] if b"not confined" in ran.stdout else []
''',
        must="refused, or as confined as before",
        harmless=True,
    ),
)
