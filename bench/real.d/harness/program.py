"""A program of the bench: one file in real.d defines one subclass and names it PROGRAM."""
import dataclasses
import hashlib
import os
import random
import shutil
import subprocess
import time
from pathlib import Path

from . import config
from .proc import Child, Failure, ending, reason_in, run, wait_for_port


@dataclasses.dataclass(frozen=True)
class Load:
    """Work whose throughput is measured. use(r, amount) does it with one process of the program and answers (amount a second, what
    came out): what came out has to be what comes out of the plain build."""
    name: str
    unit: str
    amount: int
    small: int  # for tools that take a hundred times as long
    use: object


class Program:
    package = None  # Debian source package; None: `tree` is given by source()
    name = None  # set from the file's name
    executables = ()  # relative to the build directory: described by `deadheat info`, variants derived before driving
    libraries = ()  # shared libraries whose exported symbols must be those of the plain build
    build_limit = 900
    harmless = ("--version",)  # arguments with which each executable ends at once
    drive_limit = 300

    def configure(self, b):
        pass

    def build(self, b):
        raise NotImplementedError

    def configuration(self, b):
        return config.collect(b.dir, b.placeholders())

    def environment(self, place):
        """What executables need to run from the build directory."""
        return {}

    def drive(self, r):
        """Uses the program; raises Failure, or answers a dictionary that must equal the plain build's."""
        raise NotImplementedError

    def compare(self, plain, mine):
        for key in plain:
            if mine.get(key) is not None and mine[key] != plain[key] or key not in mine:
                raise Failure(f"{key}: {mine.get(key)}, with clang {plain[key]}")

    def summary(self, seen):
        """A few words for the table on what drive() saw."""
        return ""

    def costs(self):
        """Pairs (name, function(r) -> CPU seconds) for --hook-cost."""
        return ()

    def loads(self):
        """Load after Load: what throughput and findings are about."""
        return ()


class Place:
    """A tool's copy of the source, and how to run commands there."""

    def __init__(self, bench, program, tool):
        self.bench, self.program, self.tool = bench, program, tool
        self.home = bench.cache / "work" / tool.name / program.name
        self.dir = self.home / "tree"
        self.env = tool.environment(bench.env)
        self.jobs = bench.jobs

    def log(self, step):
        return self.bench.cache / "log" / self.tool.name / f"{self.program.name}.{step}.log"

    def copy(self, source):
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir(parents=True)
        shutil.copytree(source, self.dir, symlinks=True)

    def placeholders(self):
        """What differs by nature: where the build is, and how the compiler is called."""
        words = [(str(self.dir), "$DIR")]
        for name, call in (("$CXX", self.tool.cxx), ("$CC", self.tool.cc)):
            first, *rest = call.split()
            found = shutil.which(first, path=self.env["PATH"]) or first
            words += [(" ".join([found, *rest]), name), (call, name)]
        return words


class Build(Place):
    """What configure() and build() use."""

    step = "build"

    def run(self, *argv, cwd=".", limit=None, env=None):
        return run(argv, cwd=self.dir / cwd, env=dict(self.env, **(env or {})), log=self.log(self.step),
                   limit=limit or self.program.build_limit)

    def make(self, *args, cwd="."):
        return self.run("make", f"-j{self.jobs}", *args, cwd=cwd)


class Runner(Place):
    """What drive(), costs() and loads() use: runs programs of one build in one mode, in a scratch directory."""

    codes = (0,)  # which mean success

    def __init__(self, bench, program, tool, mode):
        super().__init__(bench, program, tool)
        self.mode = mode
        self.env = dict(self.env, **dict(mode.env))
        self.scratch = self.home / "run" / mode.file
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        self.out = self.log(f"drive.{mode.file}")
        self.out.parent.mkdir(parents=True, exist_ok=True)
        self.out.write_bytes(b"")

    def argv(self, program, *args):
        return [*self.mode.prefix, str(self.dir / program), *(str(a) for a in args)]

    def run(self, program, *args, stdin=None, stdout=None, limit=None, cwd=None, check=True, env=None):
        """Runs a built program; stdin and stdout are paths."""
        source = open(stdin, "rb") if stdin else None
        target = open(stdout, "wb") if stdout else None
        try:
            return run(self.argv(program, *args), cwd=cwd or self.scratch, env=dict(self.env, **(env or {})),
                       log=self.out, limit=limit or self.program.drive_limit, stdin=source, stdout=target, check=check,
                       codes=self.codes)
        finally:
            for f in (source, target):
                if f:
                    f.close()

    def cpu(self, program, *args, **how):
        return self.run(program, *args, **how).cpu

    def output(self, program, *args, **how):
        path = self.scratch / "stdout"
        self.run(program, *args, stdout=path, **how)
        return path.read_text(errors="replace")

    def start(self, program, *args, port, limit=60):
        child = Child(self.argv(program, *args), cwd=self.scratch, env=self.env, log=self.out)
        try:
            wait_for_port(child, port, limit)
        except Failure:
            child.end()
            raise
        return child

    def stop(self, child, limit=30):
        """Waits for a server that was asked to end; answers its CPU seconds."""
        use = child.wait(limit)
        if child.timed_out:
            raise Failure(f"{child.name}: does not end within {limit} s of being asked ({child.log})")
        if use.rc not in self.codes:
            raise Failure(f"{child.name}: {ending(use.rc)} ({child.log})")
        return use.cpu

    def filtered(self, megabytes, program, *args, env=None):
        """A program that writes to its output: (MB/s, digest of what it wrote)."""
        out = self.scratch / "written"
        use = self.run(program, *args, stdout=out, env=env)
        return megabytes / use.wall, digest(out)

    def load(self, server, *argv):
        """What a load generator of Debian's says; it ends with the server, which is the more interesting reason."""
        out = self.scratch / "load"
        with open(out, "wb") as f:
            client = Child(argv, cwd=self.scratch, env=self.env, log=self.out, stdout=f)
        try:
            end = time.monotonic() + self.program.drive_limit
            while client.running():
                if not server.running():
                    use = server.wait(5)
                    raise Failure(f"{server.name}: {ending(use.rc)} under load: {reason_in(server.log)} ({server.log})")
                if time.monotonic() > end:
                    raise Failure(f"{client.name}: no end within {self.program.drive_limit} s ({self.out})")
                time.sleep(0.01)
            use = client.wait(5)
        finally:
            client.end()
        said = out.read_text(errors="replace")
        if use.rc != 0:
            raise Failure(f"{client.name}: {ending(use.rc)}: {(said.strip().splitlines() or ['it says nothing'])[-1]} ({self.out})")
        return said

    def prepared(self, name, program, *args):
        """A file that the plain build writes once."""
        path = self.bench.cache / "data" / name
        if not path.exists():
            fresh = path.with_suffix(".new")
            with open(fresh, "wb") as f:
                run([self.plain(program), *args], cwd=self.scratch, env=self.env, log=self.out, limit=self.program.drive_limit, stdout=f)
            fresh.rename(path)
        return path

    def plain(self, program):
        """The same program of the plain build: a client that costs the same whoever is measured."""
        return self.bench.cache / "work" / "clang" / self.program.name / "tree" / program

    def data(self, megabytes):
        return generated_file(self.bench.cache / "data", megabytes)


def generated_file(home, megabytes):
    """Text-like and incompressible parts, the same on every call."""
    path = home / f"mixed-{megabytes}M"
    if path.exists():
        return path
    home.mkdir(parents=True, exist_ok=True)
    rng = random.Random(megabytes)
    words = ["".join(rng.choices("etaoinshrdlcumwfgypbvk", k=rng.randint(2, 10))) for _ in range(5000)]
    weights = [1 / (i + 1) for i in range(len(words))]
    fresh = path.with_suffix(".new")
    with open(fresh, "wb") as f:
        while f.tell() < megabytes << 20:
            if rng.random() < 0.1:
                f.write(rng.randbytes(16384))
            else:
                f.write(" ".join(rng.choices(words, weights, k=12000)).encode())
        f.truncate(megabytes << 20)
    fresh.rename(path)
    return path


def digest(path):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()[:16]


def same_file(a, b, what):
    if digest(a) != digest(b):
        raise Failure(f"{what}: what comes back is not what went in")


def exported(library):
    out = subprocess.run(["nm", "-D", "--defined-only", "--format=posix", os.path.realpath(library)],
                         capture_output=True, text=True, check=False)
    if out.returncode != 0:
        raise Failure(f"nm {Path(library).name}: {out.stderr.strip()}")
    symbols = [line.split() for line in out.stdout.splitlines()]
    # Absolute ones are GNU ld's names of the versions; lld makes none, and the symbols' names carry their versions.
    return {s[0] for s in symbols if s[1] != "A"}
