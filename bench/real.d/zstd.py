"""zstd: plain Makefiles; -T2 round trip, and libzstd.so used by a client of ours and by a process that was not built here."""
import re
import sys
from pathlib import Path

from harness.proc import run
from harness.program import Load, Program, digest, same_file

CLIENTS = Path(__file__).resolve().parent / "clients"


class Zstd(Program):
    package = "libzstd"
    executables = ("programs/zstd", "zstd-client")
    libraries = ("lib/libzstd.so",)

    def build(self, b):
        b.make()
        b.run(*b.tool.cc.split(), "-O2", "-pthread", "-Ilib", CLIENTS / "zstd-client.c", "-o", "zstd-client", "-Llib",
              "-lzstd", f"-Wl,-rpath,{b.dir}/lib")

    def configuration(self, b):
        """Its Makefiles try things out and say what they found: '==> building with threading support'."""
        found = sorted(set(re.findall(r"^==> (.*)$", b.log("build").read_text(errors="replace"), re.M)))
        return {f"make: {line}": "yes" for line in found}

    def _foreign(self, r):
        if r.tool.name == "tsan":  # its libraries need its runtime in the process
            return None
        out = r.scratch / "foreign"
        with open(out, "wb") as f:
            run([sys.executable, CLIENTS / "zstd-foreign.py", r.dir / "lib/libzstd.so", r.data(1)], cwd=r.scratch,
                env=r.env, log=r.out, limit=120, stdout=f)
        return out.read_text()

    def drive(self, r):
        data, packed, back = r.data(20), r.scratch / "packed", r.scratch / "back"
        r.run("programs/zstd", "-T2", "-q", "-k", "-c", "-12", data, stdout=packed)
        r.run("programs/zstd", "-q", "-d", "-c", packed, stdout=back)
        same_file(data, back, "zstd")
        return {"compressed": digest(packed), "client": r.output("zstd-client", r.data(8)), "in a foreign process": self._foreign(r)}

    def costs(self):
        return (("-T2", lambda r: r.cpu("programs/zstd", "-T2", "-q", "-k", "-c", "-12", r.data(20), stdout="/dev/null")),)

    def loads(self):
        # Without -B one worker would have the whole of a small file.
        return (Load("compress", "MB/s", 5, 2,
                     lambda r, mb: r.filtered(mb, "programs/zstd", "-T2", "-B1MB", "-q", "-k", "-c", "-12", r.data(mb))),)


PROGRAM = Zstd
