"""The tools that are put beside each other: how each builds a workload, how it runs it, where its reports are, what it claims to find."""
import dataclasses
import hashlib
import os
import re
import shutil
import subprocess
import threading
from pathlib import Path

from . import reports, tool
from .proc import Failure, reason_in, run
from .state import digest

# Would change what compilers or tools do.
_DROPPED = ("LD_PRELOAD", "LD_LIBRARY_PATH", "DEADHEAT_OPTIONS", "TSAN_OPTIONS", "VALGRIND_OPTS", "CFLAGS", "CPATH", "LIBRARY_PATH")
_RACES_AND_LOCKS = frozenset({"race", "deadlock"})

# What each detector of deadheat can tell, and whether it is a suspicion only.
DETECTORS = {
    "race": ({"race"}, False),
    "atomrace": ({"race", "atomicity"}, False),
    "consistency": ({"atomicity"}, False),
    "lockset": ({"race", "atomicity"}, True),
    "object": ({"race"}, True),
    "views": ({"view"}, True),
    "methods": ({"atomicity", "view"}, True),
    "deadlock": ({"deadlock", "critical-wait", "indefinite-wait"}, True),
}


def environment(cache):
    env = {k: v for k, v in os.environ.items() if k not in _DROPPED}
    env.update(LC_ALL="C", XDG_CACHE_HOME=str(Path(cache) / "variants"))
    return env


@dataclasses.dataclass
class Column:
    """A column of the tables: reports from a level upwards."""
    name: str
    level: str
    claims: frozenset


@dataclasses.dataclass(eq=False)
class Peer:
    name: str
    builder: str  # peers with the same builder share their executables
    cc: str
    cxx: str
    key: str
    flags: tuple
    claims: frozenset
    patience: float  # times the workload's time limit
    columns: list = dataclasses.field(default_factory=list)
    path: str = ""
    note: str = ""  # why it says nothing, although it runs
    missing: str = ""  # why it cannot run at all
    build_key: str = ""  # of the compiler alone
    last_flags: tuple = ()  # after the workload's own, to overrule them

    def __post_init__(self):
        self.columns = self.columns or [Column(self.name, "suspected", self.claims)]

    def environment(self, base):
        return dict(base, PATH=self.path + os.pathsep + base["PATH"]) if self.path else base

    def call(self, program, args, out, n=0):
        """(argv, further environment) of the n-th run, which leaves its reports at out."""
        return [str(program), *args], {}

    def read(self, out, own, env):
        return []


class TSan(Peer):
    no_aslr = False  # set when the kernel's randomisation is more than this TSan bears

    def call(self, program, args, out, n=0):
        options = f"exitcode=0:second_deadlock_stack=1:log_path={out}"
        prefix = ["setarch", "-R"] if self.no_aslr else []
        return [*prefix, str(program), *args], {"TSAN_OPTIONS": options}

    def read(self, out, own, env):
        texts = [p.read_text(errors="replace") for p in sorted(out.parent.glob(out.name + ".*"))]
        return [r for text in texts for r in reports.tsan(text, own)]


class Valgrind(Peer):
    def call(self, program, args, out, n=0):
        # Fair: a spinning thread would otherwise keep the one it waits for from running, for seconds.
        return ["valgrind", f"--tool={self.name}", "--fair-sched=try", "--xml=yes", f"--xml-file={out}", "--", str(program),
                *args], {}

    def read(self, out, own, env):
        if not out.exists():
            return []
        text = out.read_text(errors="replace")
        program = re.search(r"<argv>\s*<exe>([^<]+)</exe>", text)
        return reports.valgrind(text, own, _symbols(program.group(1), env) if program else lambda address: "")


def _symbols(program, env):
    """A function from an address in the program's data to the variable's name; for programs that are not relocated."""
    done = subprocess.run(["nm", "-S", "--defined-only", program], env=env, capture_output=True, text=True, check=False)
    found = [line.split() for line in done.stdout.splitlines()]
    data = [(int(f[0], 16), int(f[1], 16), f[3]) for f in found if len(f) == 4 and f[2] in "bBdDrRvV"]
    return lambda address: next((name for start, size, name in data if start <= address < start + size), "")


class Deadheat(Peer):
    detectors = ()
    noise = ""  # of every second run: without, the program behaves as it does; with, it comes to other orders

    def call(self, program, args, out, n=0):
        if not self.detectors:
            return [str(program), *args], {}
        noise = [f"--noise={self.noise}", f"--seed={n}"] if self.noise and n % 2 else []
        # As the others: the program's own exit code, and reports in a file only.
        return ["deadheat", "run", f"--detect={','.join(self.detectors)}", f"--db={out}", *noise, "--", str(program), *args], \
            {"DEADHEAT_OPTIONS": "exitcode=0:print=0"}

    def read(self, out, own, env):
        if not self.detectors or not out.exists():
            return []
        done = subprocess.run(["deadheat", "report", f"--db={out}", "--format=json"], env=env, capture_output=True, text=True,
                              check=False, timeout=60)
        try:
            return reports.deadheat(done.stdout, own)
        except (ValueError, KeyError, TypeError, AttributeError) as e:
            raise Failure(f"deadheat report: exit {done.returncode}: {done.stderr.strip() or e}") from e


def _version_key(*argv):
    try:
        out = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as e:
        raise Failure(f"{argv[0]} does not run") from e
    return hashlib.sha256(out.encode()).hexdigest()[:16]


def _compiled(kind, name, builder, cc, cxx, flags, claims, patience):
    peer = kind(name, builder, cc, cxx, "", flags, claims, patience)
    try:
        peer.key = peer.build_key = digest(_version_key(cc, "--version"), *flags)
    except Failure as e:
        peer.missing = str(e)
    return peer


def _native(_, __):
    # DWARF 4 because valgrind 3.19 does not understand clang-19's default.
    return _compiled(Peer, "native", "clang", "clang-19", "clang++-19", ("-gdwarf-4",), frozenset(), 1)


def _tsan(_, __):
    return _compiled(TSan, "tsan", "tsan", "clang-19", "clang++-19", ("-g", "-fsanitize=thread"), _RACES_AND_LOCKS, 3)


def _gcc_tsan(_, __):
    return _compiled(TSan, "gcc-tsan", "gcc-tsan", "gcc", "g++", ("-g", "-fsanitize=thread"), _RACES_AND_LOCKS, 3)


def _valgrind(name, claims):
    def make(_, __):
        peer = _compiled(Valgrind, name, "clang", "clang-19", "clang++-19", ("-gdwarf-4",), claims, 6)
        # -O0 as its manual advises where lines matter: an optimised load is part of an instruction of another line.
        # Not relocated, so that an address drd gives tells the variable.
        peer.last_flags = ("-O0", "-no-pie")
        try:
            peer.key += _version_key("valgrind", "--version")
        except Failure as e:
            peer.missing = str(e)
        return peer
    return make


def _deadheat(name, wanted, patience):
    def make(build, cache):
        peer = Deadheat(name, "deadheat", "deadheat", "deadheat", "", ("-g",), frozenset(), patience)
        try:
            base = tool.deadheat(build, Path(cache), ())
        except Failure as e:
            peer.missing = str(e)
            return peer
        peer.key, peer.build_key, peer.path = base.key, base.key, base.path
        _probe(peer, Path(cache), wanted)
        return peer
    return make


def _probe(peer, cache, wanted):
    """Which of the detectors this deadheat has: those that 'run' takes for an empty program. Without 'report' there is nothing to read."""
    env = peer.environment(environment(cache))

    def works(*argv):
        return subprocess.run(["deadheat", *map(str, argv)], env=env, capture_output=True, check=False, timeout=120).returncode == 0
    if not works("help", "report"):
        peer.note = "this deadheat has no 'report' command: nothing to count yet"
        return
    home = cache / "probe"
    home.mkdir(parents=True, exist_ok=True)
    (home / "empty.c").write_text("int main(void)\n{\n    return 0;\n}\n")
    if not works("cc", home / "empty.c", "-o", home / "empty"):
        peer.note = "deadheat cc does not build an empty program"
        return
    peer.detectors = tuple(d for d in wanted if works("run", f"--detect={d}", f"--db={home / 'probe.db'}", "--", home / "empty"))
    if not peer.detectors:
        peer.note = "this deadheat has no detector yet"
    choose_detectors(peer, peer.detectors)


def choose_detectors(peer, names):
    """With the race detector alone it has one column, to be put beside the other tools'; with all of them two: what was observed, and
    everything that is at least suspected."""
    peer.detectors = tuple(names)
    sure = set().union(*(DETECTORS[d][0] for d in names if not DETECTORS[d][1]))
    every = set().union(*(DETECTORS[d][0] for d in names))
    peer.claims = frozenset(every)
    if peer.name == "deadheat":
        peer.columns = [Column("deadheat", "observed", frozenset(sure))]
    else:
        peer.columns = [Column("observed", "observed", frozenset(sure)), Column("suspected", "suspected", frozenset(every))]


MAKERS = {"native": _native, "deadheat": _deadheat("deadheat", ("race",), 4), "detectors": _deadheat("detectors", tuple(DETECTORS), 8), "tsan": _tsan, "gcc-tsan": _gcc_tsan,
          "helgrind": _valgrind("helgrind", _RACES_AND_LOCKS), "drd": _valgrind("drd", frozenset({"race"}))}


def make(names, build, cache):
    unknown = [n for n in names if n not in MAKERS]
    if unknown:
        raise Failure(f"no tool {', '.join(unknown)}; there are {', '.join(MAKERS)}")
    return [MAKERS[n](build, cache) for n in names]


class Builder:
    """Executables by content: built once for each source, flags and tool."""

    def __init__(self, cache):
        self.home, self.env = Path(cache) / "programs", environment(cache)
        self._locks, self._guard = {}, threading.Lock()

    def __call__(self, case, peer, fixed, last_flags=()):
        """The program; raises Failure with the reason."""
        if peer.missing:
            raise Failure(peer.missing)
        w = case.workload
        defs = [f"-D{d.removeprefix('-D')}" for d in case.defs] + (["-DFIXED"] if fixed else [])
        compiler = peer.cxx if w.cxx else peer.cc
        words = ["deadheat", "c++" if w.cxx else "cc"] if peer.builder == "deadheat" else [compiler]
        argv = [*words, *peer.flags, *defs, *w.sources, *w.flags, *last_flags]
        home = self.home / f"{w.name}.{digest(w.digest(), peer.build_key, *argv)}"
        with self._guard:
            lock = self._locks.setdefault(home, threading.Lock())
        with lock:
            return self._build(w, home, argv, peer)

    def _build(self, w, home, argv, peer):
        program, log = home / w.name, home / "build.log"
        if program.exists():
            return program
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        try:
            run([*argv, "-o", home / "new"], cwd=w.dir, env=peer.environment(self.env), log=log, limit=300)
        except Failure as e:
            raise Failure(f"not built: {reason_in(log)}" if log.exists() else str(e)) from e
        (home / "new").rename(program)
        return program
