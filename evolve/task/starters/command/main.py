"""The program that the search begins with: every number in it may change."""

import json
import math
import sys


def urgency(job, now, mean):
    """How soon a job should be done: what is due soon, is short, or matters."""
    slack = max(0.0, job["due"] - job["duration"] - now)
    return job["weight"] ** 1.0 / job["duration"] ** 1.0 * math.exp(-slack / (8.0 * mean))


def order(jobs):
    left, now, done = list(range(len(jobs))), 0.0, []
    mean = sum(job["duration"] for job in jobs) / len(jobs)
    while left:
        place = max(left, key=lambda place: urgency(jobs[place], now, mean))
        left.remove(place)
        done.append(place)
        now += jobs[place]["duration"]
    return done


print(json.dumps([order(jobs) for jobs in json.load(sys.stdin)]))
