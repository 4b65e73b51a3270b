"""lz4: its program creates no thread in this version, which has to be said, not more; two threads compress by its library."""
from harness.planted import UNORDERED, WRONG, Chained, Job, Plant, Sight

FAST, SMALL, FRAME = "lib/lz4.c", "lib/lz4hc.c", "lib/lz4frame.c"


class Lz4(Chained):
    package = "lz4"
    executables = ("programs/lz4", "lz4-blocks")
    jobs = (Job("blocks", ("lz4-blocks",)),
            Job("compress", ("programs/lz4", "-1", "-k", "-c", "{data}"), 100))
    plants = (
        Plant("fast-state", "own", FAST, "    LZ4_stream_t ctx;\n", "    static LZ4_stream_t ctx;\n", (Sight(UNORDERED + WRONG, functions=("LZ4_compress_fast",)),)),
        Plant("small-state", "own", SMALL, "    LZ4_streamHC_t* const statePtr = (LZ4_streamHC_t*)ALLOC(sizeof(LZ4_streamHC_t));\n    if (statePtr==NULL) return 0;\n",
              "    static LZ4_streamHC_t* statePtr;\n    if (statePtr==NULL) statePtr = (LZ4_streamHC_t*)ALLOC(sizeof(LZ4_streamHC_t));\n    if (statePtr==NULL) return 0;\n",
              (Sight(UNORDERED + WRONG, functions=("LZ4_compress_HC",)),)),
        Plant("frame-state", "own", FRAME, "    LZ4_stream_t lz4ctx;\n", "    static LZ4_stream_t lz4ctx;\n", (Sight(UNORDERED + WRONG, functions=("LZ4F_compressFrame",)),)),
    )

    def build(self, b):
        b.make("-C", "lib", "liblz4.a", "MOREFLAGS=-g")
        b.make("-C", "programs", "lz4", "MOREFLAGS=-g")
        b.run(*b.tool.cc.split(), "-O1", "-g", "-pthread", "-Ilib", str(self.clients / "lz4-blocks.c"), "-o", "lz4-blocks", "lib/liblz4.a")


PROGRAM = Lz4
