"""The text of a finding, in the format of the command line."""

from __future__ import annotations

from typing import Any

from opgate.case_id import CaseId


def finding_text(case: str, judgement: dict[str, Any]) -> str:
    """The finding of one case in a few lines: what was promised, what happened, and where to read more."""
    lines = [f"{judgement['verdict'].upper()} {case}"]
    for word, key in (
        ("promised", "promised"),
        ("happened", "happened"),
        ("likely", "likely"),
        ("why", "reason"),
    ):
        if judgement.get(key):
            lines.append(f"  {word:<10} {judgement[key]}")
    lines += [f"             {line}" for line in judgement.get("detail", [])]
    lines += [
        f"  {'in' if at == 0 else 'from':<10} {call}" for at, call in enumerate(judgement.get("stack", []))
    ]
    lines.append(f"  more       opgate explain {CaseId.of(case).check}")
    return "\n".join(lines)
