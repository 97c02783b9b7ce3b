"""`opgate sim`: any program runs on the simulated devices, and what they find is reported."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

import pytest
from harness import Completed, OpGate, assert_refused

pytestmark = pytest.mark.usefixtures("needs_simulated_runtime")


@pytest.fixture
def sim(opgate: OpGate, build: Path, tmp_path: Path) -> SimulatedProgram:
    return SimulatedProgram(opgate, build / "bin" / "opgate_cuda_program", tmp_path)


class SimulatedProgram:
    """Runs the program of fixtures/programs with one of its mistakes."""

    def __init__(self, opgate: OpGate, program: Path, folder: Path) -> None:
        self.opgate, self.program, self.folder = opgate, program, folder

    def __call__(self, mistake: str = "none", *options: str) -> Completed:
        """With one seed, if `options` do not say otherwise."""
        once = () if "--seconds" in options else ("--seconds", "0")
        return self.opgate("sim", *once, *options, "--", self.program, mistake, folder=self.folder)


def test_a_right_program_runs_as_it_does_on_a_gpu(sim: SimulatedProgram) -> None:
    run = sim()
    assert (run.returncode, run.stdout) == (0, "0 on 2 devices\n")
    assert run.stderr.split() == ["opgate", "sim:", "nothing", "found"]


def test_counts_of_traffic_are_shown_if_they_are_asked_for(sim: SimulatedProgram) -> None:
    run = sim("none", "--tool", "traffic")
    assert (run.returncode, run.stdout) == (0, "0 on 2 devices\n")
    lines = run.stderr.splitlines()
    assert any(re.match(r"opgate sim: kernel .*:$", line) for line in lines), run
    assert any(re.match(r"opgate sim: +\d+ +\d+ +\d+  .*\.cu:\d+$", line) for line in lines), run
    assert lines[-1] == "opgate sim: nothing found"


def test_what_cuda_s_own_libraries_do_is_right(opgate: OpGate, build: Path) -> None:
    run = opgate("sim", "--seconds", "0", "--", build / "bin" / "opgate_cuda_idioms")
    lines = ["scan 1", "grid 1", "compare and swap 1", "thread 0 of block 0: 0.5", "thread 1 of block 0: 0.5"]
    assert (run.returncode, run.stdout.splitlines()) == (0, [*lines, "no error"])
    assert run.stderr.split() == ["opgate", "sim:", "nothing", "found"]


@pytest.mark.parametrize("words", [["--nonsense", "--", "true"], ["--nonsense", "true"]])
@pytest.mark.parametrize("subcommand", ["sim", "record"])
def test_an_option_that_nobody_knows_is_refused(opgate: OpGate, subcommand: str, words: list[str]) -> None:
    assert_refused(opgate(subcommand, *words), "not expected: --nonsense")


def test_what_a_program_does_not_wait_for_runs_at_its_end(sim: SimulatedProgram) -> None:
    run = sim("does-not-wait")
    assert run.returncode == 1, run
    assert "opgate sim: the program ends without waiting for 2 kernels, which ran at its end" in run.stderr
    assert "memory: ld.global.f32 of 4 bytes" in run.stderr


def test_an_access_past_the_end_is_told_with_its_line(sim: SimulatedProgram) -> None:
    run = sim("past-the-end")
    assert run.returncode == 1, run
    *_, heading, what, kernel, at, error = run.stderr.splitlines()
    assert heading == "opgate sim: 1 finding"
    assert re.match(
        r" 1 memory: ld\.global\.f32 of 4 bytes at 0x[0-9a-f]+: past the end of an allocation of 400 bytes "
        r"by 4: byte 400 of argument 1 of the launch, which points to 400 bytes "
        r"\(block 1,0,0, thread 36,0,0\)$",
        what,
    )
    assert re.match(r"   kernel   .*twice\(float\s?\*, unsigned int\)$", kernel)
    line = 1 + (Path(__file__).parents[3] / "fixtures/programs/cuda_program.cu").read_text().split(
        "data[i] *= 2"
    )[0].count("\n")
    assert at.endswith(f"cuda_program.cu:{line}")
    assert error.split() == ["error", "cudaErrorIllegalAddress"]


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (
            "refused-launch",
            [
                "api: cudaLaunchKernel fails: invalid argument, kernel",
                "in 0,1,1 blocks of 64,1,1 threads",
            ],
        ),
        (
            "freed-twice",
            [
                "memory: cudaFree of byte 0 of an allocation of 400 bytes that was freed",
                "cudaErrorInvalidValue",
            ],
        ),
    ],
)
def test_what_a_program_ignores_is_found(sim: SimulatedProgram, mistake: str, words: list[str]) -> None:
    run = sim(mistake)
    assert run.returncode == 1, run
    for word in words:
        assert word in run.stderr.partition("opgate sim: 1 finding")[2]


def test_a_race_is_told_with_both_of_its_lines(sim: SimulatedProgram) -> None:
    assert sim("no-race").returncode == 0
    run = sim("race", "--tool", "race")
    assert run.returncode == 1, run
    told = run.stderr.rpartition("opgate sim: ")[2]
    assert re.search(
        r"^ 1 race: (ld|st)\.shared\.f32 races with (ld|st)\.shared\.f32 of thread \(\d+, 0, 0\) of the same "
        r"block",
        told,
        re.M,
    )
    assert len(re.findall(r"^   (?:at|and) .*cuda_program\.cu:\d+", told, re.M)) == 2 * told.count("race: ")
    assert sim("race", "--tool", "memory,sync,stream").returncode == 0


def test_a_finding_is_written_once_whatever_launches_show_it(sim: SimulatedProgram) -> None:
    run = sim("races", "--tool", "race")
    running, _, told = run.stderr.rpartition("\nopgate sim: ")
    pairs = re.findall(r"^   at +(.*)\n   and +(\S+ at \S+)", told, re.M)
    assert len(pairs) == len({frozenset((at, other.split(" at ")[1])) for at, other in pairs})
    assert running.count("opgate sim: race: ") == told.count(" race: ") == len(pairs)
    assert all(int(times) >= 5 for times in re.findall(r"^   seen +(\d+) times", told, re.M))


def test_a_fault_across_devices_is_one_finding(sim: SimulatedProgram) -> None:
    run = sim("across-devices")
    assert run.returncode == 1, run
    assert " 1 memory: " in run.stderr.partition("opgate sim: 1 finding\n")[2]
    assert "which device 1 has no peer access to" in run.stderr


def test_a_race_that_one_order_of_blocks_shows_is_found_by_further_seeds(sim: SimulatedProgram) -> None:
    both = ("clears-0", "clears-1")
    statuses = sorted(sim(mistake, "--tool", "race").returncode for mistake in both)
    assert statuses == [0, 1], "with one seed one of the blocks comes first"
    for mistake in both:
        run = sim(mistake, "--seconds", "60", "--tool", "race")
        assert run.returncode == 1, run
        assert run.stdout == "0 on 2 devices\n", "the output of the further runs is not shown"
        assert re.search(r" 1 race: (ld|st)\.global\.f32 races with", run.stderr)
        if "the program runs again" in run.stderr:
            assert "opgate sim: 1 finding with --seed 2\n" in run.stderr, "the other order of two blocks"
            assert sim(mistake, "--tool", "race", "--seed", "2").returncode == 1


def test_the_seconds_are_used_and_not_more(sim: SimulatedProgram) -> None:
    begin = time.monotonic()
    right = sim("clears-none", "--seconds", "6", "--tool", "race")
    assert time.monotonic() - begin >= 6
    assert right.returncode == 0, right
    assert re.fullmatch(r"opgate sim: nothing found with the seeds 1 to \d+", right.stderr.splitlines()[-1])


def test_two_streams_are_told_with_both_of_their_operations(sim: SimulatedProgram) -> None:
    assert sim("event").returncode == 0
    run = sim("no-event")
    assert run.returncode == 1, run
    told = run.stderr.rpartition("opgate sim: ")[2]
    operation = r"kernel .*twice.* in stream \d+"
    assert re.search(rf"^ 1 stream: {operation} and {operation} use the same", told, re.M)
    assert len(re.findall(r"^   (?:at|and) .*cuda_program\.cu:\d+", told, re.M)) == 2
    assert sim("no-event", "--tool", "memory,init,race,sync").returncode == 0


@pytest.mark.parametrize(
    ("mistake", "tool", "words"),
    [
        ("unwritten", "init", "ld.global.f32 reads 4 bytes of global memory that was not written"),
        ("missed-barrier", "sync", "bar"),
    ],
)
def test_each_tool_finds_its_mistake_alone(
    sim: SimulatedProgram, mistake: str, tool: str, words: str
) -> None:
    run = sim(mistake, "--tool", tool)
    assert run.returncode == 1, run
    assert f" 1 {tool}: " in run.stderr
    assert words in run.stderr.rpartition("opgate sim: ")[2]
    assert sim("none", "--tool", tool).returncode == 0


def test_a_load_of_unwritten_memory_names_where_its_value_matters(sim: SimulatedProgram) -> None:
    run = sim("unwritten", "--tool", "init")
    assert re.search(r"^   used by +a copy to the host \(the host\)$", run.stderr, re.M), run


def test_a_program_that_dies_of_it_still_gets_its_report(sim: SimulatedProgram) -> None:
    run = sim("on-the-host")
    assert run.returncode == 128 + 11
    assert "opgate sim: 1 finding; the program ended with SIGSEGV" in run.stderr
    assert " 1 memory: the host dereferences device memory: the address 0x" in run.stderr


def test_the_exit_status_is_the_program_s_own(sim: SimulatedProgram) -> None:
    assert sim("exits-with-3").returncode == 3
    assert sim("is-killed").returncode == 128 + 6


def test_what_is_not_simulated_is_no_finding_and_is_told(sim: SimulatedProgram) -> None:
    run = sim("unsupported")
    assert run.returncode == 0
    assert run.stderr.splitlines()[-2:] == [
        "opgate sim: nothing found",
        "not simulated, so that what depends on it is not known: cudaIpcGetMemHandle",
    ]


def test_a_kernel_that_launches_a_kernel_is_no_finding_and_is_told(opgate: OpGate, build: Path) -> None:
    run = opgate("sim", "--seconds", "0", "--", build / "bin" / "opgate_launching")
    assert run.returncode == 0, run
    *_, verdict, reason = run.stderr.splitlines()
    assert verdict == "opgate sim: nothing found"
    assert "relocatable device code (nvcc -rdc=true, which kernels that launch kernels need" in reason


@pytest.mark.parametrize("program", ["kill -9 $$", "sh -c 'kill -9 $$'; exit 137", "{cuda}; kill -9 $$"])
def test_a_program_that_is_killed_is_not_found_right(
    sim: SimulatedProgram, opgate: OpGate, program: str, tmp_path: Path
) -> None:
    words = program.format(cuda=f"'{sim.program}' none")
    run = opgate("sim", "--", "sh", "-c", words, folder=tmp_path)
    assert run.returncode == 2, run
    assert "the program was killed (SIGKILL)" in run.stderr
    assert "nothing found" not in run.stderr


def test_a_further_run_that_is_killed_is_not_counted(
    sim: SimulatedProgram, opgate: OpGate, tmp_path: Path
) -> None:
    words = f"'{sim.program}' none; if [ -e ran ]; then kill -9 $$; fi; touch ran"
    run = opgate("sim", "--seconds", "30", "--", "sh", "-c", words, folder=tmp_path)
    assert run.returncode == 2, run
    assert "opgate sim: nothing found\nwith --seed 2, the program was killed" in run.stderr


def test_a_program_without_cuda_is_told_so(sim: SimulatedProgram) -> None:
    run = sim("without-cuda")
    assert run.returncode == 0
    assert "the program used no CUDA device" in run.stderr


def test_a_program_that_only_asks_for_properties_uses_a_device(sim: SimulatedProgram) -> None:
    run = sim("asks-for-properties")
    assert (run.returncode, run.stdout) == (0, "cudaSuccess: capability 9.0\n")
    assert run.stderr.split() == ["opgate", "sim:", "nothing", "found"]


def test_tools_are_chosen_and_findings_kept(sim: SimulatedProgram) -> None:
    assert sim("refused-launch", "--tool", "memory").returncode == 0
    assert sim("refused-launch", "-t", "memory,api", "--devices", "1").stdout == "0 on 1 devices\n"
    run = sim("refused-launch", "--report", "a report.jsonl")
    assert run.returncode == 1
    lines = [json.loads(line) for line in (sim.folder / "a report.jsonl").read_text().splitlines()]
    assert [line["tool"] for line in lines] == ["start", "api"]


CAPTURED = """
import torch
table = torch.arange(12.0, device="cuda").view(4, 3)
index = torch.tensor([2, 0], device="cuda")
mask = torch.tensor([True, False, True], device="cuda")
zeros = torch.zeros(2, 3, device="cuda")
def rows():
    chosen = torch.where(mask, table.index_select(0, index), zeros).abs()
    return torch.cat([chosen, table[index]]), table.index_put((index,), zeros)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    captured = rows()
index.copy_(torch.tensor([3, 1]))
table.mul_(2)
graph.replay()
for got, want in zip(captured, rows(), strict=True):
    torch.testing.assert_close(got, want, rtol=0, atol=0)
print(captured[0].tolist())
"""


@pytest.mark.parametrize("at_once", ["0", "1"], ids=["in order", "at once"])
def test_kernels_of_aten_round_once_as_those_of_cuda(
    opgate: OpGate, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: str
) -> None:
    monkeypatch.setenv("OPGATE_SIM_ATEN_AT_ONCE", at_once)
    program = source / "fixtures" / "programs" / "half_precision.py"
    run = opgate("sim", "--seconds", "0", "--", sys.executable, program, folder=tmp_path)
    assert (run.returncode, run.stdout) == (0, "as in float\n"), run


def test_what_only_kernels_of_cuda_take_is_not_simulated(opgate: OpGate, tmp_path: Path) -> None:
    program = "import torch\nx = torch.rand(3, 4, device='cuda').half()\ntorch.cdist(x, x).cpu()"
    run = opgate("sim", "--seconds", "0", "--", sys.executable, "-c", program, folder=tmp_path)
    assert run.returncode == 0, run
    assert "opgate sim: nothing found\nnot simulated, " in run.stderr
    assert "aten::_cdist_forward: " in run.stderr


def test_kernels_of_aten_can_be_captured(opgate: OpGate, tmp_path: Path) -> None:
    """Also those whose meta kernel is in Python, and those that take lists of tensors."""
    run = opgate("sim", "--tool", "memory,api", "--", sys.executable, "-c", CAPTURED, folder=tmp_path)
    assert run.returncode == 0, run
    assert run.stdout == "[[18.0, 0.0, 22.0], [6.0, 0.0, 10.0], [18.0, 20.0, 22.0], [6.0, 8.0, 10.0]]\n"


BATCH_NORM = """
import torch

norm = torch.nn.BatchNorm2d(3).eval()
values = torch.rand(2, 3, 4, 4)
want = norm(values)
torch.testing.assert_close(norm.cuda()(values.cuda()).cpu(), want)
"""


def test_batch_norm_without_training(opgate: OpGate, tmp_path: Path) -> None:
    """CUDA's kernel returns statistics, whose sizes are known before; the CPU's returns none."""
    run = opgate("sim", "--tool", "memory,api", "--", sys.executable, "-c", BATCH_NORM, folder=tmp_path)
    assert run.returncode == 0, run


STREAMS = """
import sys
import torch
x = torch.ones(4, 3, device="cuda")
side = torch.cuda.Stream()
if "wait" in sys.argv:
    side.wait_stream(torch.cuda.current_stream())
half = slice(0, 2) if "others" in sys.argv else slice(2, 4)
with torch.cuda.stream(side):
    doubled = x[half] * 2
if "after" in sys.argv:
    torch.cuda.current_stream().wait_stream(side)
x[2:].add_(1)
doubled.record_stream(torch.cuda.current_stream())
torch.cuda.synchronize()
"""


@pytest.mark.long
def test_kernels_of_aten_in_two_streams(opgate: OpGate, tmp_path: Path) -> None:
    def run(*words: str) -> Completed:
        command = ["sim", "--tool", "stream", "--", sys.executable, "-c", STREAMS, *words]
        return opgate(*command, folder=tmp_path)

    def both(first: str, second: str) -> str:
        return rf"stream: {first} in stream \d+ and {second} in stream \d+ use the same 24 bytes"

    ordered = run("wait", "after")
    assert ordered.returncode == 0, ordered
    assert run("wait", "others").returncode == 0, "the other two rows"
    late = run("after")
    assert late.returncode == 1
    assert re.search(both("aten::mul", "aten::fill_"), late.stderr)
    early = run("wait")
    assert early.returncode == 1
    assert re.search(both("aten::mul", "aten::add_"), early.stderr)


SCRIPTED = """
import torch
@torch.jit.script
def rows(table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.cat([table[index], table[index[0]].unsqueeze(0)])
table = torch.arange(12.0, device="cuda").view(4, 3)
for _ in range(3):
    print(rows(table, torch.tensor([2, 0], device="cuda")).tolist())
"""


def test_torchscript_makes_lists_of_types_of_its_own(opgate: OpGate, tmp_path: Path) -> None:
    script = tmp_path / "scripted.py"
    script.write_text(SCRIPTED)
    run = opgate("sim", "--tool", "memory,api", "--", sys.executable, script, folder=tmp_path)
    assert run.returncode == 0, run
    assert run.stdout == 3 * "[[6.0, 7.0, 8.0], [0.0, 1.0, 2.0], [6.0, 7.0, 8.0]]\n"


def test_the_devices_work_again_after_a_fault(sim: SimulatedProgram) -> None:
    run = sim("past-the-end")
    assert run.stdout == "0 on 2 devices\n", (
        "the function that waited for the kernel failed, and those after it did not"
    )


@pytest.mark.parametrize(
    "command", [["sim", "--tool", "memory"], ["record", "--namespace", "mine"]], ids=" ".join
)
@pytest.mark.parametrize("separator", [["--"], []], ids=["separated", "bare"])
def test_the_program_gets_its_arguments_as_they_are(
    command: list[str], separator: list[str], opgate: OpGate, tmp_path: Path
) -> None:
    given = ["-c", "-m", "--config", "[1,2]", "", "a b\n", "--", "'x'"]
    script = tmp_path / "a script.py"
    script.write_text("import sys\nprint(sys.argv[1:])\n")
    run = opgate(*command, *separator, sys.executable, script, *given, folder=tmp_path)
    assert run.stdout == f"{given}\n", run


def test_an_option_with_several_values_has_them_all_before_a_separator(
    opgate: OpGate, tmp_path: Path
) -> None:
    words = ["sim", "--tool", "memory", "api", "--seconds", "0", "--", sys.executable, "-c", "print(1)"]
    assert opgate(*words, folder=tmp_path).stdout == "1\n"
    assert opgate("sim", "--tool", "memory,api", *words[7:], folder=tmp_path).stdout == "1\n"


def test_what_cannot_run_is_refused(sim: SimulatedProgram, opgate: OpGate) -> None:
    assert_refused(opgate("sim", "--", "./no-such-program"), "./no-such-program")
    assert_refused(sim("none", "--report", "no folder/report"), "no folder/report", "cannot be written")
    assert opgate("sim").returncode == 2
    assert opgate("sim", "--tool", "nothing", "--", "true").returncode == 2
