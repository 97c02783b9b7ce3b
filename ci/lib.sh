# What gate and test share; sourced, with `set -euo pipefail` in force.
#
# Sets up, in this order and only as far as something is missing: Debian packages, a virtual environment with pinned
# packages, the CMake build. OPGATE_PYTHON=/path/python3 uses that interpreter and its torch, and installs nothing.

readonly DEFAULT_TORCH=2.15.0
readonly DEBIAN_PACKAGES=(g++ libgtest-dev libgmock-dev libbenchmark-dev libcli11-dev nlohmann-json3-dev libtomlplusplus-dev
                          python3-venv python3-dev)
# What only tests need: a browser that looks at the page of `opgate report`.
readonly DEBIAN_TEST_PACKAGES=(chromium)

say() { printf '[opgate] %s\n' "$*"; }
die() { printf '[opgate] %s\n' "$*" >&2; exit 2; }

# parse_arguments "$@": --torch VERSION and --help; sets TORCH, and FURTHER to what follows a --.
parse_arguments() {
  TORCH=$DEFAULT_TORCH
  FURTHER=()
  while [ $# -gt 0 ]; do
    case $1 in
      --torch) [ $# -ge 2 ] || die "--torch takes a version, such as --torch 2.11.0"; TORCH=$2; shift 2 ;;
      -h|--help) usage; exit 0 ;;
      --) shift; FURTHER=("$@"); return ;;
      *) die "unknown argument '$1'; see $0 --help" ;;
    esac
  done
}

install_debian_packages() {
  command -v dpkg-query >/dev/null || { say "no dpkg here: g++, GoogleTest, Google Benchmark, CLI11, nlohmann-json and toml++ are expected to be installed"; return; }
  local package missing=()
  local wanted=("${DEBIAN_PACKAGES[@]}")
  [ -z "${FOR_TESTS:-}" ] || wanted+=("${DEBIAN_TEST_PACKAGES[@]}")
  for package in "${wanted[@]}"; do
    [ "$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null)" = "install ok installed" ] || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then say "Debian packages: all ${#wanted[@]} are there"; return; fi
  [ "$(id -u)" = 0 ] || die "Debian packages are missing; run: sudo apt-get install -y ${missing[*]}"
  say "Debian packages: installing ${missing[*]}"
  apt-get update -q >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" >/dev/null
}

# A virtual environment of its own for each torch; PYTHON is its interpreter.
make_environment() {
  local venv=$ROOT/.venv
  [ "$TORCH" = "$DEFAULT_TORCH" ] || venv=$ROOT/.venv-$TORCH
  local wanted stamp=$venv/opgate-installed
  wanted=$(printf 'torch==%s\n' "$TORCH"; cat "$ROOT/ci/requirements.txt")
  PYTHON=$venv/bin/python
  if [ -x "$PYTHON" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then say "Python packages: ${venv#"$ROOT"/} is up to date"; return; fi
  local base
  base=$(newest_python)
  say "Python packages: installing torch $TORCH and ci/requirements.txt into ${venv#"$ROOT"/} with $base"
  [ -f "$stamp" ] || "$base" -m venv --clear "$venv"  # one that was interrupted may lack pip
  "$PYTHON" -m pip install -q --disable-pip-version-check "$(grep '^uv==' "$ROOT/ci/requirements.txt")"
  "$PYTHON" -m uv pip install -q --python "$PYTHON" "torch==$TORCH" -r "$ROOT/ci/requirements.txt"
  printf '%s' "$wanted" > "$stamp"
}

newest_python() {
  local candidate
  for candidate in python3 python3.13 python3.12 python3.11 /usr/bin/python3; do
    if "$candidate" -c 'import sys, ensurepip, sysconfig, pathlib; sys.exit(sys.version_info < (3, 11) or not pathlib.Path(sysconfig.get_path("include"), "Python.h").exists())' 2>/dev/null; then
      command -v "$candidate"; return
    fi
  done
  die "no Python 3.11 or newer with venv and headers was found; put one on PATH"
}

choose_python() {
  if [ -n "${OPGATE_PYTHON:-}" ]; then
    PYTHON=$OPGATE_PYTHON
    "$PYTHON" -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)' 2>/dev/null ||
      die "OPGATE_PYTHON=$PYTHON has no torch, or is no Python interpreter"
    say "using $PYTHON as it is: nothing is installed"
    BUILD=$ROOT/build/given-python
  else
    install_debian_packages
    make_environment
    BUILD=$ROOT/build/torch-$TORCH
  fi
  # cmake and ninja of the environment come first: Debian's cmake 3.25 cannot build C++20 CUDA.
  PATH=$(dirname "$PYTHON"):$PATH
  unset OPGATE_PYTHON  # from here on the build knows its interpreter
}

# build [TARGET...]: everything, or only these.
build() {
  local log=$BUILD/build.log jobs
  jobs=$(nproc)
  mkdir -p "$BUILD"
  command -v cmake >/dev/null || die "no cmake 3.28 or newer on PATH"
  if [[ ${CMAKE_ARGUMENTS:-} == *OPGATE_CUDA=OFF* ]]; then say "build: CPU only, as asked; in ${BUILD#"$ROOT"/}"
  elif command -v nvcc >/dev/null || [ -n "${CUDACXX:-}" ]; then say "build: with CUDA kernels, in ${BUILD#"$ROOT"/}"
  else say "build: CPU only, because there is no nvcc; CUDA cases will be owed; in ${BUILD#"$ROOT"/}"; fi
  if ! cmake -S "$ROOT" -B "$BUILD" -G Ninja -DPython_EXECUTABLE="$PYTHON" ${CMAKE_ARGUMENTS:-} > "$log" 2>&1; then
    tail -n 25 "$log" >&2; die "cmake failed; the whole log is $log"
  fi
  if ! cmake --build "$BUILD" -j "$jobs" ${1:+--target "$@"} >> "$log" 2>&1; then
    { grep -E -m 8 -A5 'error|FAILED' "$log" || tail -n 25 "$log"; } >&2; die "the build failed; the whole log is $log"
  fi
  expose_tools
}

# `opgate` beside the environment's python, and its packages importable there.
expose_tools() {
  case $PYTHON in "$ROOT"/.venv*) ;; *) say "built: $BUILD/bin/opgate"; return ;; esac
  ln -sf "$BUILD/bin/opgate" "$(dirname "$PYTHON")/opgate"
  local site
  site=$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  printf '%s\n' "$BUILD/python" > "$site/opgate.pth"
  say "built: $(dirname "${PYTHON#"$ROOT"/}")/opgate"
}

# set_up [TARGET...]
set_up() {
  ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
  cd "$ROOT"
  choose_python
  build "$@"
}
