"""The stages, the most valuable first. Each writes its files into the output folder as it goes."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from .machine import Machine, Ran
from .others import others

# The modes of fixtures/programs/cuda_program.cu.
MODES = (
    "past-the-end",
    "unwritten",
    "race",
    "no-race",
    "missed-barrier",
    "refused-launch",
    "freed-twice",
    "no-event",
    "event",
    "right",
)
SANITIZERS = ("memcheck", "racecheck", "initcheck", "synccheck")
# Each prints the names of its groups, and with the name of one what it asks.
TENSOR_PROGRAMS = (
    "opgate_tensor_encode_facts",
    "opgate_tensor_facts",
    "opgate_tensor_store_facts",
    "opgate_cluster_facts",
)
FAULTS = ("address", "alignment", "trap")


@dataclass(frozen=True)
class Stage:
    """One part of the evidence, with the seconds that it may take on a card and on a dry run."""

    name: str
    seconds: float
    dry_seconds: float
    run: Callable[[Machine, float], dict[str, Any]]


def _log(machine: Machine, name: str, ran: Ran) -> dict[str, Any]:
    (machine.output / f"{name}.log").write_text(ran.output)
    return {"status": ran.status, "seconds": round(ran.seconds, 1), "ended_in_time": ran.ended_in_time}


def _device(machine: Machine) -> str:
    return "sim" if machine.dry else "cuda"


def _checks_of(machine: Machine, *workers: str) -> list[str]:
    """The ids of the checks that these workers run."""
    listed = machine.run([machine.program("opgate"), "list", "checks"], 60).output
    rows = [line.split() for line in listed.splitlines()]
    return [row[0] for row in rows if len(row) > 1 and row[1] in workers]


def smoke(machine: Machine, seconds: float) -> dict[str, Any]:
    """One operator through every native check."""
    command = [machine.program("opgate"), "run", "--device", _device(machine), "--op", "crop"]
    command += ["--output", str(machine.output / "smoke"), "-j", str(machine.jobs)]
    command += ["--check", *_checks_of(machine, "native")]
    ran = machine.run(command, seconds)
    return _log(machine, "smoke", ran) | {"summary": _last_line(ran.output)}


def _last_line(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def comparison(machine: Machine, seconds: float) -> dict[str, Any]:
    """The simulator against the card, instruction by instruction, in as many processes as there are cores."""
    parts = machine.jobs
    folder = machine.output / "comparison"
    folder.mkdir(exist_ok=True)

    def part(index: int) -> Ran:
        command = [machine.program("opgate_card"), "--part", str(index), "--parts", str(parts)]
        command += ["--programs", "20" if machine.dry else "2000", "--output", str(folder / f"{index}.jsonl")]
        if machine.dry:
            command.append("--stand-in")
        if machine.only:
            command += ["--only", machine.only]
        if machine.planted:
            command += ["--plant", machine.planted]
        return machine.run(command, seconds)

    with ThreadPoolExecutor(parts) as pool:
        ran = list(pool.map(part, range(1, parts + 1)))
    lines = [line for file in sorted(folder.glob("*.jsonl")) for line in file.read_text().splitlines()]
    (machine.output / "comparison.jsonl").write_text("".join(line + "\n" for line in lines))
    shutil.rmtree(folder)
    return {
        "parts": parts,
        "ended": sum(one.ended_in_time and one.status in (0, 1) for one in ran),
        "errors": sorted({one.output.strip() for one in ran if one.status not in (0, 1)}),
        "seconds": round(max(one.seconds for one in ran), 1),
    }


def _ask_both_sides(
    machine: Machine, stage: str, questions: list[tuple[str, str]], seconds: float
) -> dict[str, Any]:
    """The lines "name<TAB>value" that programs print for their arguments, on both sides."""
    result: dict[str, Any] = {}
    for side, extra in (("simulator", machine.simulated()), ("card", None)):
        if side == "card" and machine.dry:
            extra = machine.simulated()
        lines = []
        for program, argument in questions:
            command = [machine.program(program), *([argument] if argument else [])]
            ran = machine.run(command, seconds / 8, extra)
            prefix = f"{argument}: " if argument else ""
            lines += [prefix + line for line in ran.output.splitlines() if "\t" in line]
            if not ran.ended_in_time or ran.status != 0:
                lines.append(f"{prefix}status of {program}\t{ran.status}")
        (machine.output / f"{stage}-{side}.txt").write_text("".join(line + "\n" for line in lines))
        result[side] = len(lines)
    return result


def runtime(machine: Machine, seconds: float) -> dict[str, Any]:
    """Limits, attributes and errors of the CUDA runtime, on both sides."""
    questions = [("opgate_runtime_facts", argument) for argument in ("", *FAULTS)]
    return _ask_both_sides(machine, "runtime", questions, seconds)


def tensors(machine: Machine, seconds: float) -> dict[str, Any]:
    """Copies by tensor maps, and clusters, on both sides."""
    questions = []
    for program in TENSOR_PROGRAMS:
        groups = machine.run([machine.program(program)], 20, machine.simulated()).output.splitlines()
        questions += [(program, group) for group in groups]
    return _ask_both_sides(machine, "tensors", questions, seconds)


def triton(machine: Machine, seconds: float) -> dict[str, Any]:
    """What Triton's kernels leave, on both sides, bit for bit."""
    program = [sys.executable, str(machine.source / "fixtures" / "programs" / "triton_values.py")]
    simulated = [machine.program("opgate"), "sim", "--seconds", "0", "--tool", "api", "--", *program]
    if machine.dry:
        return {"left_out": "python_tests/cli/simulated/test_triton.py runs the program"}
    result: dict[str, Any] = {}
    for side, command in (("card", program), ("simulator", simulated)):
        ran = machine.run(command, seconds / 2)
        lines = [line for line in ran.output.splitlines() if "\t" in line]
        (machine.output / f"triton-{side}.txt").write_text("".join(line + "\n" for line in lines))
        result[side] = len(lines)
        if ran.status != 0:
            (machine.output / f"triton-{side}.log").write_text(ran.output)
    return result


def operators(machine: Machine, seconds: float) -> dict[str, Any]:
    """The cases of ops/ on the card in native workers, and evidence of them."""
    output = machine.output / "ops"
    command = [machine.program("opgate"), "run", "--device", _device(machine), "--output", str(output)]
    command += ["-j", str(machine.jobs), "--check", *_checks_of(machine, "native")]
    if machine.dry:
        command += ["--op", "identity_conv"]
    ran = machine.run(command, seconds)
    result = _log(machine, "ops", ran) | {"summary": _last_line(ran.output)}
    if not machine.dry:
        kept = machine.run(
            [machine.program("opgate"), "evidence", "--results", str(output / "results.jsonl")], 60
        )
        result["evidence"] = kept.output.strip().splitlines()
        evidence = machine.source / "fixtures" / "evidence"
        if evidence.is_dir():
            shutil.copytree(evidence, machine.output / "evidence", dirs_exist_ok=True)
    return result


def exported(machine: Machine, seconds: float) -> dict[str, Any]:
    """The checks of ops/ on the card that need Python: exports, packages, torch.compile, opcheck."""
    if machine.dry:
        return {"left_out": "the tests of the program run them on the simulated device"}
    command = [machine.program("opgate"), "run", "--device", "cuda"]
    command += ["--output", str(machine.output / "exported")]
    ran = machine.run([*command, "--check", *_checks_of(machine, "python", "aoti")], seconds)
    return _log(machine, "exported", ran) | {"summary": _last_line(ran.output)}


def planted(machine: Machine, seconds: float) -> dict[str, Any]:
    """The planted defects in CUDA kernels and their correct twins."""
    command = [machine.program("opgate"), "selftest", "--device", _device(machine), "--no-opcheck"]
    command += ["--config", "fixtures/defects/opgate.toml", "--output", str(machine.output / "planted")]
    command += ["-j", str(machine.jobs)]
    if machine.dry:
        command += ["--op", "on_default_stream", "*_on_default_stream"]
    ran = machine.run(command, seconds)
    return _log(machine, "planted", ran) | {"summary": _last_line(ran.output)}


def sanitizer(machine: Machine, seconds: float) -> dict[str, Any]:
    """What compute-sanitizer says of small programs, beside the simulator's tools."""
    sanitizer_path = shutil.which("compute-sanitizer")
    program = machine.program("opgate_cuda_program")
    each = seconds / 8

    def ask(job: tuple[str, str]) -> tuple[str, str, int]:
        mode, tool = job
        if tool == "simulator":
            report = machine.output / f"sim-{mode}.jsonl"
            command = [machine.program("opgate"), "sim", "--report", str(report), "--", program, mode]
            machine.run(command, each)
            lines = report.read_text().splitlines() if report.exists() else []
            report.unlink(missing_ok=True)
            found = {json.loads(line)["tool"] for line in lines} - {"start"}
            return mode, ", ".join(sorted(found)) or "nothing", len(lines)
        command = [str(sanitizer_path), "--tool", tool, "--error-exitcode", "77", program, mode]
        return mode, tool, machine.run(command, each).status

    tools = ["simulator", *(SANITIZERS if sanitizer_path and not machine.dry else ())]
    jobs = [(mode, tool) for mode in MODES for tool in tools]
    rows: dict[str, dict[str, str]] = {mode: {} for mode in MODES}
    with ThreadPoolExecutor(min(8, machine.jobs)) as pool:
        for (mode, tool), (_, told, count) in zip(jobs, pool.map(ask, jobs), strict=True):
            rows[mode][tool] = told if tool == "simulator" else "finds it" if count == 77 else "nothing"
    return {"rows": rows, "sanitizer": sanitizer_path or "compute-sanitizer is not here"}


def benches(machine: Machine, seconds: float) -> dict[str, Any]:
    """The benches on CUDA beside PyTorch."""
    if machine.dry:
        return {"left_out": "a simulated device has no speed"}
    file = machine.output / "bench.jsonl"
    command = [
        machine.program("opgate"),
        "bench",
        "--device",
        "cuda",
        "--json",
        str(file),
        "--seconds",
        "0.5",
    ]
    ran = machine.run(command, seconds)
    return _log(machine, "bench", ran)


STAGES = (
    Stage("smoke", 20, 30, smoke),
    Stage("comparison", 120, 60, comparison),
    Stage("runtime", 20, 20, runtime),
    Stage("tensors", 30, 20, tensors),
    Stage("triton", 100, 10, triton),
    Stage("others", 150, 10, others),
    Stage("operators", 260, 60, operators),
    Stage("planted", 100, 60, planted),
    Stage("sanitizer", 60, 60, sanitizer),
    Stage("benches", 100, 10, benches),
    Stage("exported", 200, 10, exported),
)


def stage_named(name: str) -> Stage:
    """The stage of this name. Raises KeyError, with the names that there are."""
    for stage in STAGES:
        if stage.name == name:
            return stage
    raise KeyError(f"there is no stage {name!r}: {', '.join(stage.name for stage in STAGES)}")
