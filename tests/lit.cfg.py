# Program tests: RUN lines of the files under tests/driver, checked by FileCheck.
#   lit.py tests/driver -DBUILD=build          (or DEADHEAT=path in the environment)
import os
import shutil
import subprocess
import sys

import lit.formats

config.name = "deadheat"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".test"]
config.excludes = ["projects", "long"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))

build = os.path.abspath(lit_config.params.get("BUILD", os.path.join(config.test_source_root, "..", "build")))
config.test_exec_root = os.path.join(build, "lit")
tool = os.environ.get("DEADHEAT", os.path.join(build, "deadheat"))
if not os.access(tool, os.X_OK):
    lit_config.fatal(f"no tool at {tool}: build it, or give -DBUILD=DIR")


def find(*names):
    return next((p for p in map(shutil.which, names) if p), None)


def tool_or_die(*names):
    return find(*names) or lit_config.fatal(f"none of {' '.join(names)} is installed")


# Searches are bounded by counts, so that they come to the same on a busy machine; the time only ends what hangs. A later
# option counts: a test that needs more, or less, says so.
BOUNDED = {"prove": "--budget=15m --schedules=2000", "classify": "--budget=15m", "heal": "--budget=15m --schedules=500",
           "check": "--budget=15m --schedules=500"}
config.substitutions += [(f"%{command}", f"{tool} {command} {bounds}") for command, bounds in BOUNDED.items()]
config.substitutions += [
    ("%deadheat", tool),
    ("%cc", tool + " cc"),
    ("%cxx", tool + " c++"),
    ("%clangxx", tool_or_die("clang++-19")),
    ("%clang", tool_or_die("clang-19")),
    ("%filecheck", tool_or_die("FileCheck-19", "FileCheck") + " --dump-input=fail"),
    ("%projects", os.path.join(config.test_source_root, "driver", "projects")),
    ("%count_lines", f"{sys.executable} -c \"import sys; n = len(sys.stdin.read().splitlines()); "
                     "sys.exit(n != int(sys.argv[1]) and f'{n} lines')\""),
]

# cmake and friends look compilers up themselves: a directory with two small wrappers serves those that want a path.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")
config.environment["LC_ALL"] = "C.UTF-8"
for name in list(os.environ):
    if name.startswith("DEADHEAT_"):
        config.environment.pop(name, None)
for name in ("cmake", "meson", "ninja", "gcc", "autoconf", "make", "libtool", "strace", "gdb", "mpirun"):
    if shutil.which(name):
        config.available_features.add(name)
if os.geteuid() == 0:
    config.available_features.add("root")
if any(subprocess.run(["unshare", *kind, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0
       for kind in (["--mount"], ["--user", "--mount"]) if shutil.which("unshare")):
    config.available_features.add("mount-namespace")
