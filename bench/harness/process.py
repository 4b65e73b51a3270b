"""Runs of a measured program: how it ended, what it used. A hang is told early: nothing of it runs and no CPU time passes."""
import dataclasses
import os
import signal
import time
from pathlib import Path

from .proc import _live, Child
from .proc import run as run_to_end
from .state import digest

_TICK = os.sysconf("SC_CLK_TCK")
_CROWD = 3


@dataclasses.dataclass
class End:
    """How a run ended: rc as in subprocess, or hung with the reason."""
    rc: int
    wall: float
    cpu: float
    rss: int  # KiB
    hung: str = ""

    @property
    def crash(self):
        return signal.Signals(-self.rc).name if self.rc < 0 and not self.hung else ""


def _tasks(session):
    """(CPU ticks, all asleep) of every process of a session."""
    ticks, asleep = 0, True
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) != session:
                continue
            ticks += int(fields[11]) + int(fields[12])
            for task in (entry / "task").iterdir():
                asleep &= (task / "stat").read_text().rpartition(")")[2].split()[0] in "StZ"
        except (OSError, IndexError, ValueError):
            continue  # it ended while we looked
    return ticks, asleep


class Watched(Child):
    """A child that is ended when it has used its limit of CPU seconds (on a busy machine it waits for its turn, which is no hang), in
    any case after three times as long, or earlier when idle_limit passes without any of it running."""

    def watch(self, limit, idle_limit=0):
        hung, quiet_since, quiet_ticks, pause = "", None, 0, 0.005
        while os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            now = time.monotonic()
            if now - self.started > limit * _CROWD:
                hung = f"no end within {limit * _CROWD:g} s"
            elif pause >= 0.2:
                ticks, asleep = _tasks(self.pid)
                # A sanitizer's own background thread wakes now and then: a few hundredths of a second are no life.
                if quiet_since is None or not asleep or ticks - quiet_ticks > 0.03 * _TICK:
                    quiet_since, quiet_ticks = now, ticks
                elif idle_limit and now - quiet_since > idle_limit:
                    hung = f"no end: all threads wait, no CPU time for {idle_limit:g} s"
                if ticks > limit * _TICK:
                    hung = f"no end within {limit:g} CPU s"
            if hung:
                self.signal(signal.SIGTERM)
                self._grace(1)
                break
            time.sleep(pause)
            pause = min(pause * 1.5, 0.2)
        return self._collect(hung)

    def _grace(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.running():
            time.sleep(0.02)
        self.signal(signal.SIGKILL)

    def _collect(self, hung):
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        wall = time.monotonic() - self.started
        with self._lock:
            _live.pop(self.pid, None)
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            _, status, use = os.wait4(self.pid, 0)
        self.proc.returncode = os.waitstatus_to_exitcode(status)
        return End(self.proc.returncode, wall, use.ru_utime + use.ru_stime, use.ru_maxrss, hung)


def run(argv, *, cwd, env, log, limit, idle_limit=0):
    log.unlink(missing_ok=True)
    return Watched(argv, cwd=cwd, env=env, log=log).watch(limit, idle_limit)


def launcher(home, env):
    """Builds launch.c below home."""
    source = Path(__file__).parent / "launch.c"
    program = Path(home) / f"launch.{digest(source.read_text())}"
    if not program.exists():
        run_to_end(["clang-19", "-O2", source, "-o", program.with_suffix(".new")], cwd=home, env=env, log=Path(home) / "launch.log", limit=60)
        program.with_suffix(".new").rename(program)
    return program


def measure(launcher, argv, *, cwd, env, log, limit):
    """As run(), with CPU and memory of the program alone: started by Python directly, its peak would be at least Python's."""
    result = log.with_suffix(".use")
    result.unlink(missing_ok=True)
    end = run([launcher, result, *argv], cwd=cwd, env=env, log=log, limit=limit)
    if not end.hung and result.exists():
        microseconds, kib, status = map(int, result.read_text().split())
        end.cpu, end.rss, end.rc = microseconds / 1e6, kib, os.waitstatus_to_exitcode(status)
    return end
