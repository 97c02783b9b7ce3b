"""The report: what the stages have seen, as Markdown. It is written anew after each stage."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

Line = dict[str, Any]

# What is compared: single instructions, products of one warp, kernels with all their memory, and programs.
KINDS = ("instruction", "matrices", "kernel", "program")
# How many differing instructions the report shows; the rest is in comparison.jsonl.
MOST_DIFFERENCES = 60
# What the simulated device answers to what a card does and it does not.
NOT_SIMULATED = "CUDA_ERROR_NOT_SUPPORTED"
# Answers of the runtime in which the simulated device differs on purpose.
MEANT = {
    "capture, relaxed, non-blocking, query of the default stream": "streams run as late as they may",
    "address: free afterwards": "functions that free memory report no fault",
    "alignment: free afterwards": "functions that free memory report no fault",
    "trap: free afterwards": "functions that free memory report no fault",
}


def table(header: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown; nothing for no rows."""
    if not rows:
        return ""
    lines = [header, ["---"] * len(header), *rows]
    return (
        "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)
        + "\n"
    )


def read_lines(file: Path) -> list[Line]:
    """The lines of JSON that are whole; a process that was stopped may have cut the last one."""
    lines = []
    for text in file.read_text().splitlines() if file.exists() else []:
        try:
            lines.append(json.loads(text))
        except ValueError:
            continue
    return lines


def has_failed(line: Line) -> bool:
    """Whether a side gave no results."""
    return "card_failed" in line or "simulator_failed" in line


def differs(line: Line) -> bool:
    """Whether a comparison has shown a difference."""
    return has_failed(line) or bool(line.get("differing"))


def of_comparison(file: Path) -> str:
    """The simulator against the card."""
    lines = [line for line in read_lines(file) if line["kind"] in KINDS]
    if not lines:
        return "Nothing was compared.\n\n"
    groups: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        name = line.get("group", "random programs" if line["kind"] == "program" else None)
        groups[name or f"products of matrices, {line['numbers']} numbers"].append(line)
    rows = [
        [
            name,
            str(len(group)),
            f"{sum(line.get('executions', 1) for line in group):,}",
            str(sum(not differs(line) for line in group)),
            str(sum(bool(line.get("differing")) for line in group)),
            str(sum(has_failed(line) for line in group)),
            _largest_share(group),
        ]
        for name, group in sorted(groups.items())
    ]
    header = [
        "what",
        "texts",
        "executions",
        "equal",
        "different",
        "not run",
        "largest share of the documented error",
    ]
    text = table(header, rows)
    instructions = [line for line in lines if line["kind"] in ("instruction", "kernel")]
    return text + _differences(instructions) + _programs(lines)


def _largest_share(lines: list[Line]) -> str:
    shares = [line["share_of_allowed"] for line in lines if "share_of_allowed" in line]
    return f"{max(shares):.2f}" if shares else ""


def _differences(lines: list[Line]) -> str:
    different = sorted((line for line in lines if differs(line)), key=lambda line: line["text"])
    rows = []
    for line in different[:MOST_DIFFERENCES]:
        if has_failed(line):
            rows.append(
                [f"`{line['text']}`", "", line.get("card_failed", line.get("simulator_failed", ""))[:120], ""]
            )
            continue
        example = line["examples"][0]
        simulated, real = (", ".join(_results(example, side)) for side in ("simulator", "card"))
        sources = ", ".join(example.get("sources", []))
        count = (
            f"{line['differing']} of {line['executions']}" if "executions" in line else str(line["differing"])
        )
        rows.append([f"`{line['text']}`", count, f"{sources}: {simulated}", real])
    text = table(["instruction", "different", "sources: simulator", "card"], rows)
    if len(different) > MOST_DIFFERENCES:
        text += f"{len(different) - MOST_DIFFERENCES} more are in comparison.jsonl.\n\n"
    return text


def _results(example: dict[str, Any], side: str) -> list[str]:
    return [example[name] for name in (side, f"{side}_second") if name in example]


def _programs(lines: list[Line]) -> str:
    different = [line for line in lines if line["kind"] == "program" and line.get("differing")]
    if not different:
        return ""
    first = Counter(line.get("instruction", "a later round").strip().split("%")[0] for line in different)
    rows = [[f"`{name.strip()}`", str(count)] for name, count in first.most_common(20)]
    return table(["first instruction behind which a random program differs", "programs"], rows)


def of_both_sides(folder: Path, stage: str) -> str:
    """The lines of a stage that differ."""
    sides = []
    for side in ("simulator", "card"):
        file = folder / f"{stage}-{side}.txt"
        sides.append(file.read_text().splitlines() if file.exists() else [])
    seen: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    named: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for lines, counts, values in zip(sides, seen, named, strict=True):
        for line in lines:
            name, _, value = line.partition("\t")
            counts[name] += 1
            values[f"{name} ({counts[name]})" if counts[name] > 1 else name] = value
    names = list(dict.fromkeys([*named[1], *named[0]]))
    rows = [
        [name, named[0].get(name, "nothing"), named[1].get(name, "nothing"), _why(name, named[0].get(name))]
        for name in names
        if named[0].get(name) != named[1].get(name)
    ]
    text = f"{len(names)} answers were compared, and {len(rows)} differ.\n\n"
    return text + table(["asked for", "simulator", "card", "why"], rows)


def _why(name: str, simulated: str | None) -> str:
    return MEANT.get(name, "not simulated" if simulated == NOT_SIMULATED else "")


def of_sanitizer(result: Line) -> str:
    """What the simulator's tools and compute-sanitizer say of the same programs."""
    rows = [
        [
            mode,
            *(
                answers.get(tool, "")
                for tool in ("simulator", "memcheck", "racecheck", "initcheck", "synccheck")
            ),
        ]
        for mode, answers in result.get("rows", {}).items()
    ]
    return table(["program", "simulator", "memcheck", "racecheck", "initcheck", "synccheck"], rows)


def of_benches(file: Path) -> str:
    """The benches of CUDA beside PyTorch."""
    rows = [
        [
            f"{line['op']} {line['bench']} {line['dtype']} {line['direction']}",
            f"{line['ratio']:.3g} [{', '.join(f'{bound:.3g}' for bound in line['interval'])}]",
            str(line.get("limit", "")),
            line["verdict"],
            f"{line['op_seconds'] * 1e6:.3g}",
            f"{line['copy_seconds'] / line['op_seconds']:.0%}",
        ]
        for line in read_lines(file)
        if "ratio" in line
    ]
    return table(["bench", "of PyTorch", "limit", "verdict", "microseconds", "of copy speed"], rows)


def write(folder: Path, machine: dict[str, str], results: dict[str, Line]) -> Path:
    """Writes report.md and the results of all stages so far."""
    (folder / "stages.json").write_text(json.dumps({"machine": machine, "stages": results}, indent=1) + "\n")
    text = "# What a GPU says\n\n" + table(
        ["machine", ""], [[name, value] for name, value in machine.items()]
    )
    for name, result in results.items():
        plain = {key: value for key, value in result.items() if key != "rows"}
        text += f"## {name}\n\n" + table(["", ""], [[key, str(value)] for key, value in plain.items()])
        if name == "comparison":
            text += of_comparison(folder / "comparison.jsonl")
        elif name in ("runtime", "tensors", "triton"):
            text += of_both_sides(folder, name)
        elif name == "sanitizer":
            text += of_sanitizer(result)
        elif name == "benches":
            text += of_benches(folder / "bench.jsonl")
    file = folder / "report.md"
    file.write_text(text)
    return file
