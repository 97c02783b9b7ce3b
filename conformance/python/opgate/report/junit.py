"""JUnit XML for CI services: a suite for each operator and device, with a test for each check."""

from __future__ import annotations

import re
from xml.etree import ElementTree as xml

from opgate.report.summary import Group, Summary

# Characters that XML 1.0 cannot hold, not even escaped.
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: str) -> str:
    """Returns the text with characters that XML cannot hold replaced."""
    return FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


def test_case(suite: xml.Element, group: Group, summary: Summary) -> None:
    """Adds the test of one check: passed, failed, in error (the spec is wrong) or skipped (owed: not run)."""
    case = xml.SubElement(suite, "testcase", classname=f"{group.op}.{group.device}", name=group.check)
    if group.finding:
        defect = summary.defect_of(group.op, group.device, group.check)
        kind = "error" if group.verdict == "invalid" else "failure"
        said = xml.SubElement(case, kind, type=group.verdict, message=clean(f"{defect.cause}: {defect.seen}"))
        others = f"\n  and {group.others} more cases" if group.others > 0 else ""
        said.text = clean(group.finding) + others
    elif group.verdict == "owed":
        xml.SubElement(case, "skipped", message=clean(f"owed (not run here): {group.owed}"))
    elif group.elsewhere:
        xml.SubElement(case, "system-out").text = clean(f"passed by {group.elsewhere}")


def junit(summary: Summary) -> str:
    """Returns the whole document."""
    root = xml.Element("testsuites", name="opgate")
    for op, device in summary.rows():
        groups = [group for group in summary.groups.values() if (group.op, group.device) == (op, device)]
        suite = xml.SubElement(root, "testsuite", name=f"{op} {device}", tests=str(len(groups)))
        suite.set("failures", str(sum(group.broken > 0 for group in groups)))
        suite.set("errors", str(sum(group.verdict == "invalid" for group in groups)))
        suite.set("skipped", str(sum(group.verdict == "owed" for group in groups)))
        suite.set("timestamp", summary.header["started"].rstrip("Z"))
        for group in groups:
            test_case(suite, group, summary)
    if summary.gate:
        refused = summary.remarks("refused")
        suite = xml.SubElement(root, "testsuite", name="gate", tests=str(max(1, len(refused))))
        suite.set("failures", str(len(refused)))
        for remark in refused:
            case = xml.SubElement(
                suite, "testcase", classname="gate", name=f"{remark['rule']} {remark['op']}"
            )
            failure = xml.SubElement(case, "failure", type="refused", message=clean(remark["what"]))
            failure.text = clean(remark["shown"])
        if not refused:
            xml.SubElement(suite, "testcase", classname="gate", name="accepted")
    xml.indent(root)
    return xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
