"""The policies as the evaluator calls them: one object for each trace, told each request before the next decision is asked for."""

import seed as program

_policies = []


def begin(capacities):
    """Makes a policy for each trace."""
    _policies[:] = [program.Policy(capacity) for capacity in capacities]


def advance(questions):
    """Returns what each of some policies drops: told the hits since its last miss, then the miss."""
    return [_dropped(_policies[number], *question) for number, *question in questions]


def _dropped(policy, hits, key, source, full):
    for held, by in hits:
        policy.hit(held, by)
    return policy.miss(key, source, full)
