#!/usr/bin/env bash
# Installs OpGate, builds the operator library, gates it, and reports the result. Its arguments are environment variables:
# those of action.yml (OPGATE_ACTION_*), and those that GitHub sets for each step (GITHUB_*), all of which may be missing.
#
# exit status: that of `opgate gate`: 0 accepted, 1 refused, 2 wrong usage or set-up
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
config=${OPGATE_ACTION_CONFIG:-opgate.toml}
summary=${GITHUB_STEP_SUMMARY:-/dev/null}
outputs=${GITHUB_OUTPUT:-/dev/null}

group() { printf '::group::%s\n' "$*"; }
end_group() { printf '::endgroup::\n'; }
fail() {
  printf '::error title=OpGate::%s\n' "$*"
  echo "verdict=error" >> "$outputs"
  exit 2
}

[ -f "$config" ] || fail "there is no $config in $PWD: commit one (\`opgate init\` writes it), or name it by the input config"
"$here/install.sh" || { echo "verdict=error" >> "$outputs"; exit 2; }
if [ -n "${OPGATE_ACTION_BUILD:-}" ]; then
  group "OpGate: building with: $OPGATE_ACTION_BUILD"
  bash -e -o pipefail -c "$OPGATE_ACTION_BUILD" || fail "the build failed: $OPGATE_ACTION_BUILD"
  end_group
fi

# A pull request is judged by the ledger, the waivers and the signers of the branch that it changes, unless a reviewer has
# accepted it, and unless that branch has no configuration yet.
base=()
if [ -n "${GITHUB_BASE_REF:-}" ] && [ "${OPGATE_ACTION_ACCEPTED:-}" != true ]; then
  git fetch --quiet --no-tags --depth=1 origin "+refs/heads/$GITHUB_BASE_REF:refs/remotes/origin/$GITHUB_BASE_REF" ||
    fail "git cannot fetch the branch $GITHUB_BASE_REF, whose ledger judges the change"
  if git cat-file -e "origin/$GITHUB_BASE_REF:./$config" 2> /dev/null; then
    base=(--ledger-of "origin/$GITHUB_BASE_REF")
  else
    printf '::notice title=OpGate::%s\n' "$GITHUB_BASE_REF has no $config yet: the change is judged by its own ledger"
  fi
fi

output=$(cd "$(dirname "$config")" && pwd)/.opgate
report=$output/report
mkdir -p "$report"
rm -f "$output/results.jsonl"
status=0
# The options are words of a command line, as a user would write them.
eval "opgate gate --config \"\$config\" --output \"\$output\" \"\${base[@]}\" ${OPGATE_ACTION_OPTIONS:-}" || status=$?
if [ -f "$output/results.jsonl" ]; then
  # The report ends with 1 if a promise is broken; only its files matter here.
  opgate report --config "$config" "$output/results.jsonl" --html "$report/page.html" --junit "$report/junit.xml" \
    --sarif "$report/opgate.sarif" --markdown "$report/comment.md" --annotations || [ $? = 1 ]
  cat "$report/comment.md" >> "$summary"
  echo "report=$report" >> "$outputs"
  if [ "${OPGATE_ACTION_COMMENT:-}" = true ] && [ -n "${OPGATE_ACTION_PULL_REQUEST:-}" ]; then
    python3 "$here/comment.py" "$report/comment.md" || printf '::warning title=OpGate::%s\n' "the comment was not written"
  fi
fi
case $status in
  0) echo "verdict=accepted" >> "$outputs" ;;
  1) echo "verdict=refused" >> "$outputs" ;;
  *) fail "opgate gate ended with status $status" ;;
esac
exit "$status"
