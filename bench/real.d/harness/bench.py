"""The steps of the bench for each program and tool: copy, configure, build, describe, derive, drive. What succeeded is stamped in the
cache and not done again until the tool, the source or the program's own file changes."""
import fcntl
import hashlib
import inspect
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from . import config
from .program import Build, Runner, exported
from .proc import Failure
from .sources import Sources

# Would change what the compilers do, or hand the caller's make jobs to ours.
_DROPPED = ("CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LIBS", "CC", "CXX", "CPP", "AR", "LD", "MAKEFLAGS", "MFLAGS", "MAKELEVEL",
            "MAKEOVERRIDES", "LD_PRELOAD", "LD_LIBRARY_PATH", "DEADHEAT_OPTIONS", "TSAN_OPTIONS", "DESTDIR", "CONFIG_SITE")


def say(*words):
    print("bench:", *words, file=sys.stderr, flush=True)


class Bench:
    def __init__(self, cache, jobs=2, fresh=False, again=False, update=False):
        self.cache, self.jobs = Path(cache), jobs
        self.fresh, self.again, self.update = fresh, again, update
        self.cache.mkdir(parents=True, exist_ok=True)
        self._lock = open(self.cache / "lock", "w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as e:
            raise Failure(f"{self.cache}: another run is using this cache") from e
        self.env = {k: v for k, v in os.environ.items() if k not in _DROPPED}
        self.env.update(LC_ALL="C", XDG_CACHE_HOME=str(self.cache / "variants"))
        self.sources = Sources(self.cache, self.env)
        self._fetched = {}

    def source(self, program):
        """(tree, version); fetched once a run when asked to update."""
        if program.name not in self._fetched:
            if program.package:
                say(f"{program.name}: source package {program.package}")
                found = self.sources.fetch(program.package, again=self.update)
            else:
                found = program.source()
            self._fetched[program.name] = found
        return self._fetched[program.name]

    # Stamps

    def _build_key(self, program, tool):
        _, version = self.source(program)
        recipe = [inspect.getsource(getattr(type(program), step)) for step in ("configure", "build")]
        return _digest(version, tool.key, tool.cc, *recipe)

    def _drive_key(self, program, tool, mode):
        recipe = Path(sys.modules[type(program).__module__].__file__).read_text()
        return _digest(self._build_key(program, tool), recipe, mode)

    @staticmethod
    def _stamped(path, key):
        try:
            record = json.loads(path.read_text())
        except (OSError, ValueError):
            return None
        return record if record.get("key") == key else None

    @staticmethod
    def _stamp(path, key, record):
        record["key"] = key
        path.write_text(json.dumps(record))
        return record

    # Building

    def built(self, program, tool):
        """Configured and built: {configure, build: [wall, cpu]}; raises Failure."""
        tree, _ = self.source(program)
        place = Build(self, program, tool)
        stamp, key = place.home / "built.json", self._build_key(program, tool)
        record = None if self.fresh else self._stamped(stamp, key)
        if record:
            return record
        place.copy(tree)
        record = {}
        for step in ("configure", "build"):
            place.step = step
            place.log(step).unlink(missing_ok=True)
            say(f"{program.name}: {tool.name}: {step}")
            record[step] = timed(lambda s=step: getattr(program, s)(place))
        return self._stamp(stamp, key, record)

    def exports_of(self, program, tool):
        return {lib: exported(Build(self, program, tool).dir / lib) for lib in program.libraries}

    def described(self, program, tool):
        """Counts from `deadheat info` of what was built, summed over executables and libraries."""
        place = Build(self, program, tool)
        env, text = dict(place.env, **program.environment(place)), ""
        for name in (*program.executables, *program.libraries):
            done = subprocess.run(["deadheat", "info", place.dir / name], env=env, capture_output=True, text=True,
                                  check=False, timeout=120)
            text += f"$ deadheat info {name}\n{done.stdout}{done.stderr}"
            if done.returncode != 0:
                raise Failure(f"deadheat info {name}: {(done.stderr or done.stdout).strip()}")
        place.log("info").write_text(text)
        return info_counts(text)

    # Running

    def derived(self, program, tool, mode):
        """Makes the variants before anything is timed: [wall, cpu] of the first run of each executable."""
        runner = Runner(self, program, tool, mode)
        say(f"{program.name}: {mode.name}: deriving")
        env = program.environment(runner)
        return timed(lambda: [runner.run(e, *program.harmless, limit=600, env=env, check=False) for e in program.executables])

    def driven(self, program, tool, mode):
        """What drive() saw, and its wall time; raises Failure."""
        stamp = Build(self, program, tool).home / f"driven.{mode.file}.json"
        key = self._drive_key(program, tool, mode)
        record = None if self.fresh or self.again else self._stamped(stamp, key)
        if record:
            return record
        derive = self.derived(program, tool, mode) if mode.derives else None
        say(f"{program.name}: {mode.name}: driving")
        start = time.monotonic()
        seen = program.drive(Runner(self, program, tool, mode))
        return self._stamp(stamp, key, {"seen": seen, "wall": time.monotonic() - start, "derive": derive})

    def configuration(self, program, tool):
        return program.configuration(Build(self, program, tool))

    def differences(self, program, plain, tool):
        """In what configuring found, from the plain tool's; kept in a log too."""
        lines = config.difference(self.configuration(program, plain), self.configuration(program, tool))
        Build(self, program, tool).log("configuration").write_text("".join(l + "\n" for l in lines))
        return lines


def _digest(*parts):
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


def timed(work):
    """[wall, cpu] of everything that work waits for."""
    before, start = os.times(), time.monotonic()
    work()
    after = os.times()
    cpu = (after.children_user - before.children_user) + (after.children_system - before.children_system)
    return [time.monotonic() - start, cpu]


def info_counts(text):
    """What 'deadheat info' says about objects and sites, summed over the programs it was asked about."""
    def total(label):
        return sum(int(n) for n in re.findall(rf"^{label} +(\d+)", text, re.M))
    native = total("without bitcode") + total("mixed, uninstrumented")
    return f"{total('modules')} objects, {native} native, {total('sites')} sites"
