"""The machine that the stages run on: its programs, its card, and how to start them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Ran:
    """One command that has ended."""

    status: int
    output: str
    seconds: float
    ended_in_time: bool


@dataclass
class Machine:
    """A checkout, a build for this machine, and a folder for results.

    `dry`: the simulator takes the place of the card.
    `planted`: OLD=NEW, a difference that is made in the PTX of the stand-in.
    `only`: instructions whose text contains this are compared; all if it is empty.
    """

    source: Path
    build: Path
    output: Path
    dry: bool = False
    planted: str = ""
    only: str = ""
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # The pack lies elsewhere than the build that knows where its libraries are.
        folders = [str(self.build / "lib"), *map(str, torch_folders())]
        before = os.environ.get("LD_LIBRARY_PATH")
        self.environment = dict(
            os.environ, LD_LIBRARY_PATH=":".join([*folders, *([before] if before else [])])
        )

    @property
    def jobs(self) -> int:
        """How many processes run at a time."""
        return os.cpu_count() or 1

    def program(self, name: str) -> str:
        """The path of a program of the build."""
        return str(self.build / "bin" / name)

    def simulated(self) -> dict[str, str]:
        """The environment in which a CUDA program runs on one simulated device."""
        simulator = self.build / "lib" / "simulator"
        return {
            "LD_PRELOAD": str(simulator / "libcudart.so.13"),
            "LD_LIBRARY_PATH": f"{simulator}:{self.environment['LD_LIBRARY_PATH']}",
            "OPGATE_SIM_DEVICES": "1",
        }

    def run(
        self,
        command: list[str],
        seconds: float,
        extra: dict[str, str] | None = None,
        folder: Path | None = None,
    ) -> Ran:
        """Runs a command in the folder, by default the checkout, and gives what it printed.

        After `seconds` it is interrupted, and killed ten seconds later.
        """
        begin = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=folder or self.source,
            env=self.environment | (extra or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        ended_in_time = True
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            ended_in_time = False
            process.send_signal(signal.SIGINT)
            try:
                output, _ = process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output, _ = process.communicate()
        return Ran(process.returncode, output, time.monotonic() - begin, ended_in_time)

    def description(self) -> dict[str, str]:
        """What a report says of the machine."""
        if self.dry:
            return {"card": "none: the simulator takes its place"}
        query = "name,driver_version,memory.total,compute_cap"
        if shutil.which("nvidia-smi") is None:
            return {"card": "none"}
        told = self.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"], 20)
        parts = [part.strip() for part in told.output.strip().splitlines()[0].split(",")]
        return dict(zip(("card", "driver", "memory", "compute capability"), parts, strict=False))


def torch_folders() -> list[Path]:
    """Where the libraries of this interpreter's torch are, and those that it needs."""
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        return []
    torch = Path(found.origin).parent
    return [torch / "lib", *sorted(torch.parent.glob("nvidia/*/lib"))]
