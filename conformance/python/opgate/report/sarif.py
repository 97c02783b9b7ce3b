"""SARIF 2.1.0 for code scanning services: a rule for each check, and a result for each defect."""

from __future__ import annotations

import json
from typing import Any

from opgate.judging.explanation import Explanation
from opgate.report.markdown import cell, code
from opgate.report.summary import Summary

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def location(place: tuple[str, int]) -> list[dict[str, Any]]:
    """Returns the file and line as a list of one place, or an empty list if they are unknown."""
    file, line = place
    if not file:
        return []
    artifact = {"artifactLocation": {"uri": file}, "region": {"startLine": line}}
    return [{"physicalLocation": artifact}]


def help_markdown(told: Explanation) -> str:
    """Says how to fix the operator, with code that has the mistake and code without it, if there is any."""
    examples = [
        f"**{title}**\n\n{code(text)}"
        for title, text in (("Wrong", told.wrong), ("Right", told.right))
        if text
    ]
    return "\n".join([cell(told.fix), "", *examples])


def sarif(summary: Summary, explanations: dict[str, Explanation]) -> str:
    """Returns the whole document."""
    results = [
        {
            "ruleId": defect.check,
            "level": "warning" if defect.severity == "spec" else "error",
            "message": {"text": f"{defect.title}\n{defect.text}"},
            "locations": location(summary.place(defect)),
            "partialFingerprints": {"defect/v1": defect.id},
        }
        for defect in summary.defects
    ]
    results += [
        {
            "ruleId": remark["rule"],
            "level": "error",
            "message": {
                "text": "\n".join(filter(None, [f"{remark['op']}: {remark['what']}", remark["shown"]]))
            },
            "locations": location(summary.where(remark["op"])),
        }
        for remark in summary.remarks("refused")
    ]
    rules = []
    for check in sorted({result["ruleId"] for result in results}):
        rule: dict[str, Any] = {"id": check}
        if told := explanations.get(check):
            rule |= {
                "shortDescription": {"text": told.promise},
                "fullDescription": {"text": told.why},
                "help": {"text": told.fix, "markdown": help_markdown(told)},
            }
        rules.append(rule)
    driver = {"name": "OpGate", "version": summary.header["opgate"], "rules": rules}
    run = {"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"
