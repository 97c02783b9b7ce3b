"""The verdict as text for a person."""

from __future__ import annotations

from opgate.judge.finding import Verdict

MOST_LINES = 12


def report(verdict: Verdict) -> str:
    """The verdict, what was seen, and how far it reaches."""
    lines = [f"{verdict.word:8}  {verdict.candidate}"]
    for finding in verdict.findings:
        lines += [
            f"  {'cheat' if finding.is_cheating else 'wrong'}      {finding.how}: {finding.meaning}",
            f"    on       {finding.sample}",
            f"    seen     {finding.evidence}",
        ]
    for label, texts in (
        ("unclear", verdict.unclear),
        ("mistrusts", verdict.mistrusted),
        ("remark", verdict.remarks),
        ("left out", verdict.left_out),
    ):
        lines += [f"  {label:10} {text}" for text in texts[:MOST_LINES]]
        if len(texts) > MOST_LINES:
            lines.append(f"  {label:10} and {len(texts) - MOST_LINES} more; --json has them")
    lines.append(f"  calls      {verdict.calls} with {verdict.samples} samples; no time was measured")
    lines.append(f"  isolated   {', '.join(verdict.isolated) or 'nothing'}")
    if verdict.not_isolated:
        lines.append(f"  open       {', '.join(verdict.not_isolated)}: not isolated or limited here")
    return "\n".join(lines)
