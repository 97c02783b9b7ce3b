# Functions that the scripts in ci/ share. The scripts source this file, with `set -euo pipefail` in force.
#
# set_up installs what is missing, in this order: Debian packages, a virtual environment with pinned packages, the CMake
# build. OPGATE_PYTHON=/path/python3 uses that interpreter and its torch, and installs nothing.

readonly DEFAULT_TORCH=2.15.0
readonly OLDEST_TORCH=2.11.0
# The newest version of each minor release that OpGate compiles with.
readonly SUPPORTED_TORCHES=("$OLDEST_TORCH" 2.12.1 2.13.0 2.14.1 "$DEFAULT_TORCH")
readonly DEBIAN_PACKAGES=(g++ ccache libgtest-dev libgmock-dev libbenchmark-dev libcli11-dev nlohmann-json3-dev
                          libtomlplusplus-dev python3-venv python3-dev)
# Only the tests need these: a browser that opens the page of `opgate report`, and the program that signs evidence.
readonly DEBIAN_TEST_PACKAGES=(chromium openssh-client)
readonly DEBIAN_FORMAT_PACKAGES=(clang-format)

say() { printf '[opgate] %s\n' "$*"; }
die() { printf '[opgate] %s\n' "$*" >&2; exit 2; }

# parse_arguments "$@": takes --torch VERSION, --help, and the options of $FLAGS, in any order. Sets TORCH, TORCHES to all
# versions that were given, FURTHER to the arguments after a --, and for --some-flag SOME_FLAG to 1.
parse_arguments() {
  TORCH=$DEFAULT_TORCH
  TORCHES=()
  FURTHER=()
  local flag
  while [ $# -gt 0 ]; do
    case $1 in
      --torch) [ $# -ge 2 ] || die "--torch takes a version, such as --torch 2.11.0"; TORCH=$2; TORCHES+=("$2"); shift 2 ;;
      -h|--help) usage; exit 0 ;;
      --) shift; FURTHER=("$@"); return ;;
      *)
        [[ " ${FLAGS:-} " == *" $1 "* ]] || die "unknown argument '$1'; see $0 --help"
        flag=${1#--}; flag=${flag//-/_}
        printf -v "${flag^^}" 1
        shift ;;
    esac
  done
}

install_debian_packages() {
  command -v dpkg-query >/dev/null || { say "no dpkg here: g++, GoogleTest, Google Benchmark, CLI11, nlohmann-json and toml++ are expected to be installed"; return; }
  local package missing=()
  local wanted=("${DEBIAN_PACKAGES[@]}")
  [ -z "${FOR_TESTS:-}" ] || wanted+=("${DEBIAN_TEST_PACKAGES[@]}")
  [ -z "${FOR_FORMAT:-}" ] || wanted+=("${DEBIAN_FORMAT_PACKAGES[@]}")
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
  [ -f "$stamp" ] || "$base" -m venv --clear "$venv"  # --clear, since an interrupted set-up may have left one without pip
  "$PYTHON" -m pip install -q --disable-pip-version-check "$(grep '^uv==' "$ROOT/ci/requirements.txt")"
  # --compile-bytecode, because workers import torch hundreds of times, and without it each import takes twice as long.
  "$PYTHON" -m uv pip install -q --compile-bytecode --python "$PYTHON" "torch==$TORCH" -r "$ROOT/ci/requirements.txt"
  printf '%s' "$wanted" > "$stamp"
}

# usable_pythons CANDIDATE...: the minor version and the path of those that can make a virtual environment and have headers, one
# of each version; torch has wheels for Python up to 3.14.
usable_pythons() {
  local candidate version seen=" "
  for candidate in "$@"; do
    version=$("$candidate" -c 'import sys, ensurepip, sysconfig, pathlib
usable = (3, 11) <= sys.version_info < (3, 15) and pathlib.Path(sysconfig.get_path("include"), "Python.h").exists()
print(sys.version_info.minor if usable else "")' 2>/dev/null) || continue
    if [ -n "$version" ] && [[ $seen != *" $version "* ]]; then
      seen+="$version "
      printf '%s %s\n' "$version" "$(command -v "$candidate")"
    fi
  done
}

newest_python() {
  local newest
  newest=$(usable_pythons python3.{14..11} python3 /usr/bin/python3 | sort -rn | sed -n '1s/^[0-9]* //p')
  [ -n "$newest" ] || die "no Python 3.11 or newer with venv and headers was found; put one on PATH"
  printf '%s\n' "$newest"
}

# Those for which a wheel has a binding.
pythons_of_wheel() { usable_pythons python3.{11..14} "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[1-4].*/bin/python3; }

# try_wheel WHEEL RESULTS [OPTIONS...]: installs the wheel for each Python and each version of TORCHES; see ci/what_works.py.
try_wheel() {
  local pythons
  mapfile -t pythons < <(pythons_of_wheel | sort -n | sed 's/^[0-9]* //')
  "$ROOT/ci/what_works.py" "$1" --results "$2" --python "${pythons[@]}" --torch "${TORCHES[@]}" "${@:3}"
}

choose_python() {
  if [ -n "${OPGATE_PYTHON:-}" ]; then
    PYTHON=$OPGATE_PYTHON
    "$PYTHON" -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)' 2>/dev/null ||
      die "OPGATE_PYTHON=$PYTHON has no torch, or is not a Python interpreter: name one that has torch, or unset the variable"
    say "using $PYTHON as it is: nothing is installed"
    BUILD=$ROOT/build/given-python${BUILD_SUFFIX:-}
  else
    install_debian_packages
    make_environment
    BUILD=$ROOT/build/torch-$TORCH${BUILD_SUFFIX:-}
  fi
  # cmake and ninja of the environment come first: Debian's cmake 3.25 cannot build C++20 CUDA.
  PATH=$(dirname "$PYTHON"):$PATH
  unset OPGATE_PYTHON  # from here on the build knows its interpreter
}

# Sets CUDA to ON or OFF, and prints why. CUDA kernels are compiled wherever that is possible: where there is no GPU, they run
# on the simulated device.
choose_cuda() {
  if [[ ${CMAKE_ARGUMENTS:-} =~ OPGATE_CUDA=([A-Z]+) ]]; then CUDA=${BASH_REMATCH[1]}
  elif command -v nvcc >/dev/null || [ -n "${CUDACXX:-}" ]; then CUDA=ON
  else CUDA=OFF
  fi
  if [ "$CUDA" = ON ]; then say "build: with CUDA kernels"
  elif [[ ${CMAKE_ARGUMENTS:-} == *OPGATE_CUDA=OFF* ]]; then say "build: without CUDA kernels, as asked"
  else say "build: without CUDA kernels, whose cases will be owed: there is no nvcc"; fi
}

# build [TARGET...]: builds everything, or only these targets.
build() {
  local log=$BUILD/build.log jobs
  jobs=$(nproc)
  mkdir -p "$BUILD"
  command -v cmake >/dev/null || die "there is no cmake on PATH: install version 3.28 or newer, such as with pip"
  choose_cuda
  say "build: in ${BUILD#"$ROOT"/}, $jobs compilers at a time; the log is ${log#"$ROOT"/}"
  if ! cmake -S "$ROOT" -B "$BUILD" -G Ninja -DPython_EXECUTABLE="$PYTHON" -DOPGATE_UNITE=ON -DOPGATE_CUDA="$CUDA" ${CMAKE_ARGUMENTS:-} > "$log" 2>&1; then
    grep -q 'OpGate: ' "$log" && grep -A3 'OpGate: ' "$log" >&2 || tail -n 25 "$log" >&2
    die "cmake failed; the whole log is $log"
  fi
  if ! cmake --build "$BUILD" -j "$jobs" ${1:+--target "$@"} >> "$log" 2>&1; then
    { grep -E -m 8 -A5 'error|FAILED' "$log" || tail -n 25 "$log"; } >&2; die "the build failed; the whole log is $log"
  fi
  expose_tools
}

# Links `opgate` into the environment's bin/, and makes OpGate's Python packages importable there.
expose_tools() {
  case $PYTHON in "$ROOT"/.venv*) ;; *) say "built: $BUILD/bin/opgate"; return ;; esac
  ln -sf "$BUILD/bin/opgate" "$(dirname "$PYTHON")/opgate"
  local site
  site=$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  printf '%s\n' "$BUILD/python" > "$site/opgate.pth"
  # What an installed package says of itself, so that pytest finds the plugin without -p.
  local info=opgate-0.1.0.dist-info
  mkdir -p "$site/$info"
  printf 'Metadata-Version: 2.1\nName: opgate\nVersion: 0.1.0\n' > "$site/$info/METADATA"
  printf '[pytest11]\nopgate.pytest_plugin = opgate.pytest_plugin\n' > "$site/$info/entry_points.txt"
  printf '%s\n' opgate.pth,, "$info/METADATA,," "$info/entry_points.txt,," "$info/RECORD,," > "$site/$info/RECORD"
  say "built: $(dirname "${PYTHON#"$ROOT"/}")/opgate"
}

enter_root() {
  ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
  cd "$ROOT"
}

# set_up [TARGET...]: installs what is missing, and builds everything or only these targets.
set_up() {
  enter_root
  choose_python
  build "$@"
}
