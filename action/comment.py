"""Writes a comment on a pull request, or replaces the one that it wrote before.

usage: comment.py FILE

FILE is Markdown. OPGATE_ACTION_PULL_REQUEST has the number of the pull request, and OPGATE_ACTION_TOKEN the
token. GITHUB_REPOSITORY and GITHUB_API_URL are those that GitHub sets.

Exit status: 0 written, 1 not written, with the reason.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

# By this line the comment is found again; it is not shown.
MARK = "<!-- OpGate -->\n"
# GitHub refuses longer comments.
LIMIT = 65_536
TIMEOUT = 60  # seconds


def ask(method: str, path: str, body: dict[str, str] | None = None) -> Any:
    """One request to the API; returns what it answers. Raises urllib.error.URLError."""
    request = urllib.request.Request(
        f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/{path}",
        method=method,
        data=json.dumps(body).encode() if body else None,
        headers={
            "Authorization": f"Bearer {os.environ['OPGATE_ACTION_TOKEN']}",
            "Accept": "application/vnd.github+json",
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        return json.load(answer)


def earlier_comment(number: str) -> int | None:
    """The id of the comment that an earlier run wrote on the pull request."""
    page = 1
    while comments := ask("GET", f"issues/{number}/comments?per_page=100&page={page}"):
        for comment in comments:
            if comment["body"].startswith(MARK):
                return comment["id"]
        page += 1
    return None


def shortened(text: str) -> str:
    """The text, cut at the end of a line if it is too long for a comment."""
    if len(text) <= LIMIT:
        return text
    note = "\n\nThe rest is in the summary of the job.\n"
    return text[: text.rindex("\n", 0, LIMIT - len(note))] + note


def main() -> int:
    """Writes the comment; returns the exit status."""
    number = os.environ["OPGATE_ACTION_PULL_REQUEST"]
    body = {"body": shortened(MARK + Path(sys.argv[1]).read_text(encoding="utf-8"))}
    try:
        earlier = earlier_comment(number)
        if earlier is None:
            ask("POST", f"issues/{number}/comments", body)
        else:
            ask("PATCH", f"issues/comments/{earlier}", body)
    except urllib.error.URLError as error:
        # The token of a pull request from a fork may not write.
        print(f"{error}: does the job have the permission pull-requests: write?", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
