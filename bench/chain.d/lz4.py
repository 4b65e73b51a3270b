"""lz4: creates no thread in this version, which has to be said, not more."""
from harness.planted import Chained, Job


class Lz4(Chained):
    package = "lz4"
    executables = ("programs/lz4",)
    jobs = (Job("compress", ("programs/lz4", "-1", "-k", "-c", "{data}"), 100),)

    def build(self, b):
        b.make("-C", "lib", "liblz4.a", "MOREFLAGS=-g")
        b.make("-C", "programs", "lz4", "MOREFLAGS=-g")


PROGRAM = Lz4
