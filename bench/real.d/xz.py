"""xz: autoconf and libtool, the threads live in liblzma.so; -T2 round trips through libtool's wrapper and through .libs, and the
library loaded by a process that was not built here."""
import sys

from harness.proc import run
from harness.program import Load, Program, digest, same_file

FOREIGN = """
import lzma, sys
data = open(sys.argv[1], "rb").read()
packed = lzma.compress(data, preset=1)
assert lzma.decompress(packed) == data
sys.stdout.write(str(len(packed)) if sys.argv[2] in open("/proc/self/maps").read() else "another library")
"""


class Xz(Program):
    package = "xz-utils"
    executables = ("src/xz/.libs/xz",)
    libraries = ("src/liblzma/.libs/liblzma.so",)
    wrapper, real, blocks = "src/xz/xz", "src/xz/.libs/xz", ("-T2", "--block-size=1MiB")

    def configure(self, b):
        b.run("./configure")

    def build(self, b):
        b.make()

    def environment(self, place):
        return {"LD_LIBRARY_PATH": str(place.dir / "src/liblzma/.libs")}

    def _round_trip(self, r, program, env):
        data, packed, back = r.data(8), r.scratch / "packed", r.scratch / "back"
        r.run(program, *self.blocks, "-k", "-c", data, stdout=packed, env=env)
        r.run(program, "-T2", "-d", "-c", packed, stdout=back, env=env)
        same_file(data, back, program)
        return digest(packed)

    def _foreign(self, r):
        if r.tool.name == "tsan":  # its libraries need its runtime in the process
            return None
        library, out = r.dir / "src/liblzma/.libs", r.scratch / "foreign"
        with open(out, "wb") as f:
            run([sys.executable, "-c", FOREIGN, r.data(1), library], cwd=r.scratch, log=r.out, limit=120, stdout=f,
                env=dict(r.env, LD_LIBRARY_PATH=str(library)))
        return out.read_text()

    def drive(self, r):
        return {"through the wrapper": self._round_trip(r, self.wrapper, {}),
                "through .libs": self._round_trip(r, self.real, self.environment(r)),
                "in a foreign process": self._foreign(r)}

    def costs(self):
        def compress(r):
            return r.cpu(self.real, *self.blocks, "-k", "-c", r.data(4), stdout="/dev/null", env=self.environment(r))

        def decompress(r):
            packed = r.bench.cache / "data" / "mixed-4M.xz"
            if not packed.exists():
                r.run(self.real, *self.blocks, "-k", "-c", r.data(4), stdout=packed, env=self.environment(r))
            return r.cpu(self.real, "-T2", "-d", "-c", packed, stdout="/dev/null", env=self.environment(r))
        return (("-T2", compress), ("-T2 -d", decompress))

    def loads(self):
        def compress(r, megabytes):
            return r.filtered(megabytes, self.real, *self.blocks, "-k", "-c", r.data(megabytes), env=self.environment(r))

        def decompress(r, megabytes):
            packed = r.prepared(f"mixed-{megabytes}M-0.xz", self.wrapper, *self.blocks, "-0", "-k", "-c", r.data(megabytes))
            return r.filtered(megabytes, self.real, "-T2", "-d", "-k", "-c", packed, env=self.environment(r))
        return Load("compress", "MB/s", 4, 2, compress), Load("decompress", "MB/s", 20, 2, decompress)


PROGRAM = Xz
