#!/usr/bin/env bash
# Installs OpGate, unless `opgate` is on the path: the wheel that OPGATE_ACTION_WHEEL names, or that of the release which this
# copy of the action is part of. release.txt, which ci/release writes, has the address of that wheel and its hash, which pip
# compares. Nothing is installed by its bare name: whoever takes the name on a package index would run code here.
#
# exit status: 0 OpGate is there, 2 it is not
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fail() {
  printf '::error title=OpGate::%s\n' "$*"
  exit 2
}

if [ -n "${OPGATE_ACTION_WHEEL:-}" ]; then
  wanted=("$OPGATE_ACTION_WHEEL") what=$OPGATE_ACTION_WHEEL
elif command -v opgate > /dev/null; then
  exit 0
elif [ -f "$here/release.txt" ]; then
  wanted=(-r "$here/release.txt") what=$(cat "$here/release.txt")
else
  fail "there is no opgate on the path, and this commit of the action is no release: use a release (@v...), install OpGate in" \
    "a step before, or name the path or address of its wheel by the input wheel"
fi
printf '::group::OpGate: installing %s\n' "$what"
python3 -m pip install --disable-pip-version-check -q "${wanted[@]}" || fail "pip cannot install $what"
printf '::endgroup::\n'
