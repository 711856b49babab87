"""Candidate processes: a program's functions are called in a process of their own, and only plain data comes back.

The worker's side is here: a `Box` (box.py) keeps a warm template (template_process.py), and opens a `Session` (session.py) with a candidate that the
template forks; requests and answers cross by channel.py in the form of wire.py. `inner` runs in the processes of a slot, `walls` confine a candidate
there, and `machine` finds out what this machine offers for that. policy.py makes of a task's grants and of these means the jail of a slot.

Names are imported from their modules: an engine that reads somebody else's words needs output.py, and none of the rest.

No byte of a candidate is ever executed, imported or unpickled in the process that evaluates it."""
