"""The compilers that are compared, and the ways in which a program built by them is run."""
import dataclasses
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from .proc import Failure


@dataclasses.dataclass(frozen=True)
class Mode:
    """A way to run what a tool built: words before the program, and environment."""
    name: str
    prefix: tuple = ()
    env: tuple = ()
    derives: bool = False  # the first run makes a variant of the program

    @property
    def file(self):
        return self.name.replace(" ", "-").replace(":", "-")


@dataclasses.dataclass(frozen=True)
class Tool:
    name: str
    cc: str
    cxx: str
    key: str  # changes when the tool does: what was built with another key is built again
    modes: tuple
    path: str = ""  # put before PATH

    def environment(self, base):
        env = dict(base, CC=self.cc, CXX=self.cxx)
        if self.path:
            env["PATH"] = self.path + os.pathsep + env["PATH"]
        return env


def _version_key(compiler):
    try:
        out = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as e:
        raise Failure(f"{compiler} does not run") from e
    return hashlib.sha256(out.encode()).hexdigest()[:16]


def _compiler(name, flags, modes=(), cc="clang-19", cxx="clang++-19"):
    return Tool(name, " ".join([cc, *flags]), " ".join([cxx, *flags]), _version_key(cc) + "".join(flags), modes)


def clang():
    return _compiler("clang", (), (Mode("clang"),))


def lto():
    """The yardstick of --link-cost."""
    return _compiler("lto", ("-O2", "-flto", "-fuse-ld=lld"), (Mode("lto"),))


def tsan():
    quiet = (("TSAN_OPTIONS", "report_bugs=0"),)
    return _compiler("tsan", ("-g", "-fsanitize=thread"), (Mode("tsan", env=quiet),))


def gcc_tsan():
    return _compiler("gcc-tsan", ("-g", "-fsanitize=thread"), cc="gcc", cxx="g++")


def valgrind():
    """For helgrind and drd: DWARF that valgrind 3.19 understands; not relocated, so that an address tells the variable."""
    return _compiler("valgrind", ("-gdwarf-4", "-no-pie", "-Wno-unused-command-line-argument"))


def _hash_tree(top):
    h = hashlib.sha256()
    for path in sorted(p for p in top.rglob("*") if p.is_file()):
        h.update(f"{path.relative_to(top)}\0".encode())
        h.update(path.read_bytes())
    return h.hexdigest()[:16]


def deadheat(build, cache, modes):
    """Runs from a copy in the cache: a rebuild during a long run must not change the tool under our feet."""
    stage = Path(build).resolve() / "stage"
    if not (stage / "bin" / "deadheat").exists():
        raise Failure(f"{build}: no stage/bin/deadheat; run make first")
    key = _hash_tree(stage)
    home = cache / "tool" / key
    if not home.exists():
        shutil.rmtree(cache / "tool", ignore_errors=True)
        fresh = cache / "tool" / (key + ".new")
        shutil.copytree(stage, fresh, symlinks=True)
        fresh.rename(home)
    program = home / "bin" / "deadheat"
    if subprocess.run([program, "cc", "--version"], capture_output=True, check=False).returncode != 0:
        raise Failure(f"{build}/deadheat has no working 'cc' command")
    return Tool("deadheat", "deadheat cc", "deadheat c++", key, modes, path=str(home / "bin"))


# Findings are not what a drive is about.
PLAIN = Mode("deadheat", env=(("DEADHEAT_OPTIONS", "exitcode=0:print=0"),))


def empty(plan):
    """The variant with empty hooks for a plan, derived from the executable."""
    return Mode(f"empty {plan}", ("deadheat", "run", "--detect=none", f"--plan={plan}", "--"), derives=True)
