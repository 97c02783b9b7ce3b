"""Compares what programs print on the simulated device with what they printed on a card.

usage: recorded_facts.py FILE SIMULATOR PROGRAM...

FILE has lines "group: name<TAB>value" of a card, SIMULATOR is the folder of the simulated runtime. A program
prints its groups, and for each one the lines "name<TAB>value". Lines that FILE lacks are not compared.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

MOST_SHOWN = 20


def main() -> int:
    """The exit status: 0 if all recorded lines are met."""
    file, simulator, *programs = map(Path, sys.argv[1:])
    environment = os.environ | {
        "LD_PRELOAD": str(simulator / "libcudart.so.13"),
        "LD_LIBRARY_PATH": str(simulator),
        "OPGATE_SIM_DEVICES": "1",
    }

    def lines_of(*command: str) -> list[str]:
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return ran.stdout.splitlines()

    recorded = dict(line.split("\t") for line in file.read_text().splitlines() if not line.startswith("#"))
    simulated = {}
    for program in map(str, programs):
        for group in lines_of(program):
            lines = [line.split("\t") for line in lines_of(program, group)]
            simulated |= {f"{group}: {name}": value for name, value in lines}
    different = [name for name, value in recorded.items() if simulated.get(name) != value]
    print(f"{len(recorded)} answers of a card were compared, and {len(different)} differ.")
    for name in different[:MOST_SHOWN]:
        print(f"{name}\n  card       {recorded[name]}\n  simulator  {simulated.get(name, 'nothing')}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
