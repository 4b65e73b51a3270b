"""Child processes: a time limit, a log, wall and CPU time for each; ended by their own process group only."""
import atexit
import dataclasses
import os
import re
import signal
import socket
import subprocess
import threading
import time


class Failure(Exception):
    """A step did not work; the text is what stands in the table's cell."""


@dataclasses.dataclass
class Usage:
    wall: float
    cpu: float  # user + system, of the process and of every descendant that was waited for
    rc: int


_live = {}  # pid -> Child, so that nothing outlives the bench


def _end_all():
    for child in list(_live.values()):
        child.end()


atexit.register(_end_all)


class Child:
    """A process in its own session. wait() must be called once."""

    def __init__(self, argv, *, cwd, env, log, stdin=None, stdout=None):
        log.parent.mkdir(parents=True, exist_ok=True)
        self.argv, self.log = [str(a) for a in argv], log
        with open(log, "ab") as out:
            out.write(("$ " + " ".join(self.argv) + "\n").encode())
            out.flush()
            self.started = time.monotonic()
            try:
                self.proc = subprocess.Popen(self.argv, cwd=cwd, env=env, start_new_session=True, stderr=out,
                                             stdin=stdin or subprocess.DEVNULL, stdout=stdout or out)
            except OSError as e:
                raise Failure(f"{self.name}: {e.strerror}") from e
        self.pid = self.proc.pid
        self.timed_out = False
        self._lock = threading.Lock()
        _live[self.pid] = self

    @property
    def name(self):
        return os.path.basename(self.argv[0])

    def signal(self, number):
        with self._lock:
            if self.pid in _live:
                try:
                    os.killpg(self.pid, number)
                except ProcessLookupError:
                    pass

    def _expire(self):
        self.timed_out = True
        self.signal(signal.SIGTERM)
        time.sleep(2)
        self.signal(signal.SIGKILL)

    def wait(self, limit):
        timer = threading.Timer(max(limit, 0), self._expire)
        timer.daemon = True
        timer.start()
        try:
            # WNOWAIT first: the pid stays ours until the group has been dealt with.
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            wall = time.monotonic() - self.started
            with self._lock:
                _live.pop(self.pid, None)
                try:
                    os.killpg(self.pid, signal.SIGKILL)  # stragglers of the same group, if any
                except ProcessLookupError:
                    pass
                _, status, use = os.wait4(self.pid, 0)
        finally:
            timer.cancel()
        self.proc.returncode = os.waitstatus_to_exitcode(status)
        return Usage(wall, use.ru_utime + use.ru_stime, self.proc.returncode)

    def running(self):
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None

    def end(self):
        if self.pid in _live:
            self.signal(signal.SIGKILL)
            self.wait(5)


_ERROR = re.compile(r"deadheat: |error: |undefined reference|undefined symbol|\*\*\* |Assertion|FATAL")


def reason_in(log):
    """The line of a log that most likely says why: the first error, or the last line."""
    try:
        lines = [l.strip() for l in log.read_text(errors="replace").splitlines() if l.strip()]
    except OSError:
        return "no log"
    for line in lines:
        if _ERROR.search(line) and not line.startswith("$ "):
            return line
    return lines[-1] if lines else "empty log"


def ending(rc):
    return f"ended by {signal.Signals(-rc).name}" if rc < 0 else f"exit {rc}"


def run(argv, *, cwd, env, log, limit, stdin=None, stdout=None, check=True, codes=(0,)):
    """codes: exit codes that mean success."""
    child = Child(argv, cwd=cwd, env=env, log=log, stdin=stdin, stdout=stdout)
    use = child.wait(limit)
    if child.timed_out:
        raise Failure(f"{child.name}: no end within {limit} s ({log})")
    if check and use.rc not in codes:
        raise Failure(f"{child.name}: {ending(use.rc)}: {reason_in(log)} ({log})")
    return use


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for_port(child, port, limit):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if not child.running():
            raise Failure(f"{child.name}: ended while starting: {reason_in(child.log)} ({child.log})")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise Failure(f"{child.name}: does not listen after {limit} s ({child.log})")
