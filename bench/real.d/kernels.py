"""Small kernels of our own, for --hook-cost: a stencil with barriers, a hash map under mutexes, C++ containers."""
from pathlib import Path

from harness.program import Program, digest

HOME = Path(__file__).resolve().parent / "kernels"


class Kernels(Program):
    executables = ("stencil", "hashmap", "containers")

    def source(self):
        return HOME, " ".join(digest(f) for f in sorted(HOME.iterdir()))

    def build(self, b):
        b.run(*b.tool.cc.split(), "-O2", "-g", "-pthread", "stencil.c", "-o", "stencil")
        b.run(*b.tool.cc.split(), "-O2", "-g", "-pthread", "hashmap.c", "-o", "hashmap")
        b.run(*b.tool.cxx.split(), "-std=c++17", "-O2", "-g", "-pthread", "containers.cpp", "-o", "containers")

    def drive(self, r):
        return {name: r.output(name, "1") for name in self.executables}

    def costs(self):
        return tuple((name, lambda r, n=name: r.cpu(n, "10", stdout="/dev/null")) for name in self.executables)


PROGRAM = Kernels
