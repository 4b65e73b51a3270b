"""pbzip2: C++, a plain Makefile; a -p2 round trip, and libbzip2's own bunzip2 semantics by the same bytes as the plain build's."""
from harness.program import Load, Program, digest, same_file


class Pbzip2(Program):
    package = "pbzip2"
    executables = ("pbzip2",)

    def build(self, b):
        # It has no flags of its own, and predates a rule of C++11 that g++ only warns of.
        b.run("make", "all", env={"CXXFLAGS": "-O2 -g -Wno-reserved-user-defined-literal"})

    def drive(self, r):
        data, packed, back = r.data(20), r.scratch / "packed", r.scratch / "back"
        r.run("pbzip2", "-p2", "-k", "-c", data, stdout=packed)
        r.run("pbzip2", "-p2", "-d", "-c", packed, stdout=back)
        same_file(data, back, "pbzip2")
        return {"compressed": digest(packed)}

    def costs(self):
        return (("-p2", lambda r: r.cpu("pbzip2", "-p2", "-k", "-c", r.data(20), stdout="/dev/null")),)

    def loads(self):
        def compress(r, megabytes):
            return r.filtered(megabytes, "pbzip2", "-p2", "-k", "-c", r.data(megabytes))

        def decompress(r, megabytes):
            packed = r.prepared(f"mixed-{megabytes}M.bz2", "pbzip2", "-p2", "-k", "-c", r.data(megabytes))
            return r.filtered(megabytes, "pbzip2", "-p2", "-k", "-d", "-c", packed)
        return Load("compress", "MB/s", 20, 2, compress), Load("decompress", "MB/s", 20, 2, decompress)


PROGRAM = Pbzip2
