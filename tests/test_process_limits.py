import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from duologue import process_limits
from duologue.process_limits import inherited_environment, peak_memory

MEGABYTE = 2**20
ENOUGH = 64 * MEGABYTE
OWN = Path("/proc/self/oom_score_adj")


@pytest.mark.skipif(not OWN.exists(), reason="this system has no such score")
def test_a_process_and_its_children_are_chosen_first() -> None:
    child = "import subprocess, sys; input(); print(open('/proc/self/oom_score_adj').read())"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with subprocess.Popen(
        [sys.executable, "-c", outer], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        process_limits.set_oom_score(process.pid, process_limits.WORKER)
        assert Path(f"/proc/{process.pid}/oom_score_adj").read_text() == "500\n"
        assert process.communicate("\n")[0].strip() == "500"


def test_where_there_is_no_score_nothing_happens(tmp_path: Path) -> None:
    process_limits.set_oom_score(1, process_limits.WORKER, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_is_lost_least_goes_first() -> None:
    order = (process_limits.WORKER, process_limits.TOOL, process_limits.FORK_SERVER, process_limits.READER)
    assert 0 < order[0] < order[1] < order[2] < order[3] <= 1000


def limited(program: str, **limits: int) -> subprocess.CompletedProcess[str]:
    """`program`, in a process with these limits."""
    code = f"from duologue.process_limits import limit_process\nlimit_process(**{limits!r})\n{program}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_a_limited_process_writes_no_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    done = limited(f"import pathlib; pathlib.Path({str(file)!r}).write_bytes(b'x')", memory=ENOUGH)
    assert "OSError" in done.stderr
    assert file.read_bytes() == b""


def test_a_limited_process_dumps_no_core() -> None:
    done = limited("import resource; print(resource.getrlimit(resource.RLIMIT_CORE))", memory=ENOUGH)
    assert done.stdout == "(0, 0)\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the address space")
def test_a_limited_process_gets_no_more_memory() -> None:
    program = "print(len(bytes(2**24)), flush=True); bytes(2**30)"
    done = limited(program, memory=128 * MEGABYTE)
    assert (done.stdout, "MemoryError" in done.stderr) == (f"{2**24}\n", True)


def test_the_end_of_the_processor_time_tells_its_reason() -> None:
    assert limited("while True: pass", memory=ENOUGH, cpu_seconds=1).returncode == -signal.SIGXCPU


def test_a_limited_process_opens_no_more_files() -> None:
    done = limited("import os\nwhile True: print(os.dup(0))", memory=ENOUGH, open_files=10)
    assert done.stdout.split()[-1] == "9"


def test_a_lower_limit_from_outside_stays() -> None:
    program = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8)); limit_process(memory=2**26, open_files=64)"
    done = limited(f"{program}; print(resource.getrlimit(resource.RLIMIT_NOFILE))", memory=ENOUGH)
    assert done.stdout == "(8, 8)\n"


def test_the_most_memory_of_this_process_is_known() -> None:
    assert MEGABYTE < peak_memory() == peak_memory(resource.getrusage(resource.RUSAGE_SELF))


def test_a_child_inherits_no_setting_and_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUOLOGUE_KEY", "secret")
    monkeypatch.setenv("PLAIN", "yes")
    inherited = inherited_environment()
    assert "DUOLOGUE_KEY" not in inherited
    assert inherited["PLAIN"] == "yes"
