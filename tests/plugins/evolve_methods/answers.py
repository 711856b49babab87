"""A model as a program: reads a prompt on stdin, and answers on stdout in the form that the prompt asks for.

Another number in the program, drawn by the prompt and the time; where notes are asked for, lines of words. It knows of the program what stands in the prompt."""

import random
import re
import sys
import time

FENCE = re.compile(r"^```seed\.py\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])\d+\.\d+")
SHELL = "```sh\n{}\n```"


def main() -> None:
    prompt = sys.stdin.read()
    drawn = random.Random(f"{prompt}{time.time_ns()}")
    time.sleep(0.1)
    print(answer(prompt, drawn))


def answer(prompt: str, drawn: random.Random) -> str:
    """What is answered: an agent's command or its end, notes, edits, or a whole file."""
    if "the last line DONE" in prompt:
        value = f"{drawn.uniform(0.1, 5.0):.4f}"
        change = rf"sed -i -E '0,/[0-9]+\.[0-9]+/s//{value}/' seed.py; python3 evaluate.py; echo {value} > IDEA.txt"
        return "DONE" if SHELL[:5] in prompt.rpartition("the last line DONE")[2] else SHELL.format(change)
    if "in a fence that begins with its path" not in prompt and "<<<<<<< SEARCH" not in prompt:
        return "\n".join(f"- Try {drawn.randrange(1000)} in the place of a number that is there." for _ in range(3))
    program = shown(prompt)
    place = drawn.choice(list(NUMBER.finditer(program)))
    value = f"{drawn.uniform(0.1, 5.0):.4f}"
    hypothesis = f"Hypothesis: {value} in the place of {place[0]} is better.\n\n"
    if "<<<<<<< SEARCH" in prompt:
        begin, end = program.rfind("\n", 0, place.start()) + 1, program.find("\n", place.end())
        new = program[begin : place.start()] + value + program[place.end() : end]
        return f"{hypothesis}<<<<<<< SEARCH\n{program[begin:end]}\n=======\n{new}\n>>>>>>> REPLACE\n"
    return f"{hypothesis}```seed.py\n{program[: place.start()]}{value}{program[place.end() :]}```\n"


def shown(prompt: str) -> str:
    """The program that is to change: the first below the heading that says so, else the first of all."""
    _, _, below = prompt.partition(", the program to change\n")
    found = FENCE.search(below or prompt) or FENCE.search(prompt)
    if found is None:
        raise SystemExit(f"the prompt has no program:\n{prompt}")
    return found[1]


if __name__ == "__main__":
    main()
