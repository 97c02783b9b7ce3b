"""Prints the script that `opgate repro --python` asks for; see cli/scripts/script_request.h."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import jinja2

from opgate.request import asked, status_of
from opgate.worker.serving import prepare_process


def said(judgement: dict[str, Any]) -> str:
    """What was found, and in which of the operator's calls."""
    if judgement["verdict"] == "pass" and "happened" not in judgement:
        return "this promise is kept"
    words = [judgement.get("happened") or judgement["reason"], judgement.get("likely", "")]
    lines = [line for line in words if line] + [f"  {call}" for call in judgement.get("stack", [])]
    return "\n".join(lines).replace('"', "'").replace("\\", "/")


def script(request: dict[str, Any]) -> str:
    """The call, and what the check demands of it, where plain torch can test it. Raises UserError."""
    from opgate.script.expressions import parts_of, quoted

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["quoted"] = quoted
    parts = {"said": said(request["judgement"])} | parts_of(request)
    return environment.get_template("script.py.jinja").render(request | parts)


def main(request: dict[str, Any]) -> int:
    """Returns the exit status of the request. Raises UserError where no script can say what it asks for."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader may want the first lines alone
    printed = os.dup(1)
    os.dup2(2, 1)  # modules may print what they like while they are imported
    prepare_process(request["setup"])
    from opgate.worker.setting_up import import_project, load_specs

    import_project(request["setup"])
    load_specs(request["setup"])
    with os.fdopen(printed, "w") as out:
        out.write(script(request))
    return int(request["status"])


if __name__ == "__main__":
    sys.exit(status_of(lambda: main(asked())))
