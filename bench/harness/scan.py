"""Building a workload for static analysis, and scanning it."""
import os
import subprocess
import tempfile
import time

from .proc import Failure


def build_program(tool, w, defs, fixed, out):
    """Path of the program, or raises Failure."""
    sources = list(w.sources)
    twin = [s.replace(".", "-fixed.", 1) for s in sources]
    flags = [d if d.startswith("-") else f"-D{d}" for d in defs]
    if fixed and all((w.dir / s).exists() for s in twin):
        sources = twin
    elif fixed:
        flags.append("-DFIXED")
    argv = [tool, "c++" if w.cxx else "cc", "-g", *w.flags, *flags, *(str(w.dir / s) for s in sources), "-o", str(out), "-lm"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"{w.name}: {(done.stderr.splitlines() or ['no output'])[-1]}")
    return out


def scan_program(tool, path, *options):
    """(JSON text, CPU seconds, KiB) of one scan."""
    with tempfile.TemporaryFile("w+") as out:
        start = time.monotonic()
        child = subprocess.Popen([tool, "scan", "--db=none", "--format=json", *options, str(path)], stdout=out, stderr=subprocess.PIPE, text=True)
        said = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read()
    if child.returncode not in (0, 1):
        raise Failure(f"{path.name}: {said.strip() or child.returncode} after {time.monotonic() - start:.1f} s")
    return text, used.ru_utime + used.ru_stime, used.ru_maxrss
