"""opgate report: the same results for people and services; every name in them is escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import pytest
from harness import Completed, OpGate, assert_refused

HOSTILE = "<b>&\"'|`*_%0A::x\n]]>\x00\x1b[31m"
HEADER: dict[str, Any] = {
    "opgate": "0.1.0",
    "engine": "e",
    "torch": "2.15.0",
    "plan": "p",
    "cases": 5,
    "started": "2026-01-02T03:04:05Z",
    "libraries": "l",
    "shard": "1/1",
    "capability": "AVX2",
    "filter": {"ops": [], "checks": [], "devices": [], "cases": [], "planted": False},
    "subjects": {
        name: {"schema": "", "kernels": [], "promises": [], "ulps": 4.0, "where": "ops/spec.cpp:7"}
        for name in ("good", "bad")
    },
}
LINES: list[dict[str, Any]] = [
    {"case": "good/float32/4/contiguous/cpu/value.reference", "ulps": 1.25, "verdict": "pass"},
    {
        "case": "good/float32/4/contiguous/cuda/value.reference",
        "verdict": "owed",
        "reason": f"no GPU {HOSTILE}",
    },
    {
        "case": "bad/float32/4/x=stepped/cpu/value.layout",
        "verdict": "fail",
        "promised": "the same result",
        "happened": f"it differs {HOSTILE}",
        "likely": "strides",
        "detail": ["got 1", "want 2"],
    },
    {"case": "bad/float64/4/x=stepped/cpu/value.layout", "verdict": "fail", "promised": "p", "happened": "h"},
    {
        "case": "bad/float64/4/contiguous/cpu/effect.alias",
        "verdict": "crash",
        "reason": "SIGSEGV",
        "stack": ["scale_rows at src/kernels.cpp:41", "bad in libbad.so"],
    },
    {"row": "good/cpu/value.reference", "cell": "ok"},
    {"row": "good/cuda/value.reference", "cell": "owed"},
    {
        "row": "bad/cpu/value.layout",
        "cell": "FAIL 2",
        "finding": f"FAIL value.layout\n  happened   it differs {HOSTILE}\n",
    },
    {"row": "bad/cpu/effect.alias", "cell": "CRASH 1", "finding": "CRASH effect.alias\n"},
    {
        "defect": "bad/cpu/crash/SIGSEGV in scale_rows",
        "finding": "CRASH effect.alias\n  in         scale_rows at src/kernels.cpp:41\n",
        "op": "bad",
        "device": "cpu",
        "severity": "memory",
        "cause": "it ends the process: SIGSEGV in scale_rows",
        "example": "bad/float64/4/contiguous/cpu/effect.alias",
        "checks": {"effect.alias": 1},
        "variants": ["contiguous"],
        "cases": ["bad/float64/4/contiguous/cpu/effect.alias"],
    },
    {
        "defect": "bad/cpu/layout/x",
        "finding": f"FAIL value.layout\n  happened   it differs {HOSTILE}\n",
        "op": "bad",
        "device": "cpu",
        "severity": "values",
        "cause": f"`x` is read as if it were dense {HOSTILE}",
        "example": "bad/float32/4/x=stepped/cpu/value.layout",
        "checks": {"value.layout": 2},
        "variants": ["x=stepped"],
        "cases": [
            "bad/float32/4/x=stepped/cpu/value.layout",
            "bad/float64/4/x=stepped/cpu/value.layout",
        ],
    },
]
GATE = {
    "base": "ledger L",
    "started": HEADER["started"],
    "remarks": [
        {
            "kind": "refused",
            "rule": "case.lost",
            "op": "bad",
            "what": f"no dtype {HOSTILE}",
            "shown": "3 -> 2",
        },
        {"kind": "better", "rule": "accuracy.worse", "op": "good", "what": "2 -> 1 ulps", "shown": ""},
    ],
}


def write_results(folder: Path, lines: list[dict[str, Any]], header: dict[str, Any] = HEADER) -> Path:
    file = folder / "results.jsonl"
    last = {"finished": "2026-01-02T03:05:05Z", "worst": []}
    file.write_text("".join(json.dumps(line) + "\n" for line in [header, *lines, last]))
    return file


def write_project(folder: Path) -> Path:
    """Writes a project with the results of a run and of a gate; returns its folder."""
    (folder / "opgate.toml").write_text("")
    (folder / ".opgate").mkdir()
    write_results(folder / ".opgate", LINES)
    (folder / ".opgate" / "gate.json").write_text(json.dumps(GATE))
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path)


@pytest.fixture
def report(opgate: OpGate, project: Path) -> Any:
    def write(*options: str | Path) -> Completed:
        result = opgate("report", *options, folder=project)
        assert (result.returncode, result.stderr) == (0, ""), result
        return result

    return write


def test_junit_has_a_test_a_check_with_failures_and_owed_ones(report: Any, project: Path) -> None:
    report("--junit", "junit.xml")
    root = xml.fromstring((project / "junit.xml").read_text())
    suites = {suite.get("name"): suite for suite in root}
    assert list(suites) == ["bad cpu", "good cpu", "good cuda", "gate"]
    assert suites["bad cpu"].get("failures") == "2"
    layout = suites["bad cpu"].find("testcase[@name='value.layout']/failure")
    assert layout is not None
    assert "and 1 more cases" in (layout.text or "")
    assert "it differs <b>&" in (layout.get("message") or "")
    assert suites["good cuda"].find("testcase/skipped") is not None
    assert suites["gate"].get("failures") == "1"


def test_sarif_has_rules_with_help_and_results_with_places(report: Any, project: Path) -> None:
    report("--sarif", "out.sarif")
    run = json.loads((project / "out.sarif").read_text())["runs"][0]
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert set(rules) == {"value.layout", "effect.alias", "case.lost"}
    told = rules["value.layout"]["help"]
    assert "stride" in told["text"]
    assert re.search(
        r"\*\*Wrong\*\*\n\n```\nat::Tensor .+\n```\n\n+\*\*Right\*\*\n\n```\n", told["markdown"], re.DOTALL
    )
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    # Where the kernel crashed, and where that is unknown, the spec.
    assert [(place["artifactLocation"]["uri"], place["region"]["startLine"]) for place in places] == [
        ("src/kernels.cpp", 41),
        ("ops/spec.cpp", 7),
        ("ops/spec.cpp", 7),
    ]
    prints = [result["partialFingerprints"] for result in run["results"][:2]]
    assert prints == [{"defect/v1": "bad/cpu/crash/SIGSEGV in scale_rows"}, {"defect/v1": "bad/cpu/layout/x"}]


def test_annotations_are_one_line_each_whatever_is_in_them(report: Any) -> None:
    lines = report("--annotations").stdout.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("::error file=src/kernels.cpp,line=41,title=bad on cpu::it ends the process")
    assert all(line.startswith("::error file=ops/spec.cpp,line=7,title=") for line in lines[1:])
    assert "%250A::x%0A]]>" in lines[1]


def test_markdown_says_the_gate_first_and_folds_findings(report: Any, project: Path) -> None:
    report("--markdown", "comment.md")
    text = (project / "comment.md").read_text()
    assert text.startswith("## OpGate: refused\n\n1 passed, 3 failed, 1 owed")
    assert text.index("### Refused") < text.index("### Better") < text.index("### 2 defects")
    assert text.index("### 2 defects") < text.index("| bad cpu |")
    assert "- **bad** no dtype \\<b\\>&\"'\\|\\`\\*\\_%0A::x \\]\\]\\>" in text
    assert text.count("<details>") == 2


def test_the_gate_of_another_run_is_not_shown(report: Any, project: Path) -> None:
    (project / ".opgate" / "gate.json").write_text(json.dumps(GATE | {"started": "2025-01-01T00:00:00Z"}))
    report("--markdown", "comment.md")
    assert "Refused" not in (project / "comment.md").read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no results file of this version of OpGate"),
        ('{"case": "x"}\n', "is no results file of this version of OpGate"),
        (json.dumps(HEADER) + "\n{cut", "results.jsonl:2: not a line of OpGate's results"),
        (json.dumps(HEADER) + "\n", "is unfinished; complete it with `opgate run --resume`"),
        (
            "".join(
                json.dumps(line) + "\n" for line in [HEADER, LINES[3], {"finished": "2026-01-02T03:05:05Z"}]
            ),
            "was written by another version of OpGate; run again",
        ),
    ],
)
def test_what_is_no_finished_run_is_refused(text: str, said: str, opgate: OpGate, project: Path) -> None:
    (project / ".opgate" / "results.jsonl").write_text(text)
    assert_refused(opgate("report", "--junit", "x.xml", folder=project), said)
    assert not (project / "x.xml").exists()


def test_what_cannot_be_done_is_said(opgate: OpGate, project: Path) -> None:
    assert_refused(opgate("report", folder=project), "no report was asked for")
    assert_refused(opgate("report", "--junit", "/dev/null/x", folder=project), "cannot write /dev/null/x")


@pytest.mark.exhaustive
def test_a_million_cases_are_reported_in_bounded_memory(opgate: OpGate, project: Path) -> None:
    case = "good/float32/{}/contiguous/cpu/value.reference"
    lines = ({"case": case.format(number), "ulps": 0.5, "verdict": "pass"} for number in range(1_000_000))
    with (project / ".opgate" / "results.jsonl").open("w") as stream:
        row = {"row": "good/cpu/value.reference", "cell": "ok"}
        for line in [HEADER, *lines, row, {"finished": "2026-01-02T03:05:05Z"}]:
            stream.write(json.dumps(line) + "\n")
    limited = f"ulimit -v 8000000; exec '{opgate.program}' report --junit j.xml --markdown m.md"
    result = OpGate(Path("/bin/bash"), project)("-c", limited, folder=project)
    assert result.returncode == 0, result
    assert "1000000 passed" in (project / "m.md").read_text()


# The page, in a browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def page_file(opgate: OpGate, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page, which no test changes."""
    folder = write_project(tmp_path_factory.mktemp("page"))
    result = opgate("report", "--html", "page.html", folder=folder)
    assert (result.returncode, result.stderr) == (0, ""), result
    return folder / "page.html"


@pytest.fixture
def page(browser: Any, page_file: Path) -> Iterator[Any]:
    """The page in a tab of its own."""
    tab = browser.new_page()
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("request", lambda request: errors.append(request.url) if "file:" not in request.url else None)
    tab.goto(page_file.as_uri())
    yield tab
    assert errors == [], "a script fails, or something is fetched from elsewhere"
    tab.close()


def test_the_page_says_what_the_run_says(page: Any) -> None:
    assert page.title() == "OpGate: 3 failed"
    assert page.locator("h1").inner_text() == "OpGate: refused"
    assert page.locator("tbody tr").count() == 3
    assert page.locator("td.bad").all_inner_texts() == ["CRASH 1", "FAIL 2"]
    assert page.locator("td.owed").all_inner_texts() == ["owed"]
    assert page.locator("b, script").count() == 6 * 2 + 1, "nothing of a name became an element"
    assert "it differs <b>&\"'|`*_%0A::x" in page.locator("summary + pre").nth(1).text_content()


def test_a_finding_has_the_wrong_and_the_right_code(page: Any) -> None:
    layout = page.locator("details", has_text="is read as if it were dense").locator("pre code")
    wrong, right = layout.all_text_contents()
    assert "x.const_data_ptr<float>()" in wrong
    assert "x.contiguous()" in right
    assert wrong.count("\n") > 1, "lines are kept"


def test_a_cell_leads_to_its_finding_by_keyboard_alone(page: Any) -> None:
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "FAIL 2":
            break
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('details[open]') !== null")
    assert "bad on cpu: `x` is read as if it were dense" in page.locator("details[open] summary").inner_text()
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    assert page.locator("details[open]").get_by_text("How to fix it.").is_visible()


def test_the_defects_come_first_and_the_most_severe_of_them_first(page: Any) -> None:
    assert page.locator("main h2").all_inner_texts()[:3] == [
        "The gate, compared with ledger L",
        "2 defects",
        "Operators by check",
    ]
    first, second = page.locator("details summary").all_inner_texts()
    assert " ".join(first.split()) == "memory bad on cpu: it ends the process: SIGSEGV in scale_rows"
    assert second.startswith("values")
    assert "scale_rows at src/kernels.cpp:41" in page.locator("details pre").first.text_content()


def test_a_narrow_window_needs_no_scrolling_sideways(page: Any) -> None:
    page.set_viewport_size({"width": 360, "height": 640})
    for defect in page.locator("details").all():
        defect.evaluate("details => { details.open = true; }")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_rows_can_be_filtered_and_the_count_is_announced(page: Any) -> None:
    page.get_by_label("Show operators with").fill("good")
    assert page.locator("tr[data-op]:visible").count() == 2
    assert page.get_by_role("status").inner_text() == "2 of 3 rows"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_enough_in_both_schemes(scheme: str, page: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    pairs = page.evaluate(
        """() => ["td.bad", "td.owed", "td.pass", ".soft", "a", "summary", "pre"].map(name => {
          const at = document.querySelector(name), painted = tag => getComputedStyle(tag).backgroundColor;
          let ground = at;
          while (painted(ground) === "rgba(0, 0, 0, 0)") ground = ground.parentElement;
          return [name, getComputedStyle(at).color, painted(ground)];
        })"""
    )
    for name, ink, ground in pairs:
        light, dark = sorted((luminance(ink), luminance(ground)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (name, ink, ground)  # WCAG 2.2, 1.4.3


def luminance(colour: str) -> float:
    """Relative luminance of "rgb(r, g, b)", as WCAG defines it."""
    channels = [int(number) / 255 for number in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
