"""lz4: its program creates no thread in this version, which has to be said, not more; two threads compress by its library."""
from harness.planted import UNORDERED, WRONG, Chained, Job, Plant, Sight

FAST, SMALL, FRAME = "lib/lz4.c", "lib/lz4hc.c", "lib/lz4frame.c"
OWN = """    LZ4_streamHC_t* const statePtr = (LZ4_streamHC_t*)ALLOC(sizeof(LZ4_streamHC_t));
    if (statePtr==NULL) return 0;
#else
    LZ4_streamHC_t state;
    LZ4_streamHC_t* const statePtr = &state;
#endif
    cSize = LZ4_compress_HC_extStateHC(statePtr, src, dst, srcSize, dstCapacity, compressionLevel);
#if defined(LZ4HC_HEAPMODE) && LZ4HC_HEAPMODE==1
    FREEMEM(statePtr);
"""


class Lz4(Chained):
    package = "lz4"
    executables = ("programs/lz4", "lz4-blocks")
    jobs = (Job("blocks", ("lz4-blocks",)),
            Job("compress", ("programs/lz4", "-1", "-k", "-c", "{data}"), 100))
    plants = (
        Plant("fast-state", "own", FAST, "    LZ4_stream_t ctx;\n", "    static LZ4_stream_t ctx;\n", (Sight(UNORDERED + WRONG, functions=("LZ4_compress_fast",)),)),
        Plant("small-state", "own", SMALL, OWN, OWN.replace("* const statePtr = (LZ4_streamHC_t*)ALLOC(sizeof(LZ4_streamHC_t));\n    if (statePtr==NULL) return 0;",
                                                            " state;\n    LZ4_streamHC_t* const statePtr = &state;").replace("    LZ4_streamHC_t state", "    static LZ4_streamHC_t state")
              .replace("    FREEMEM(statePtr);\n", ""), (Sight(UNORDERED + WRONG, functions=("LZ4_compress_HC",)),)),
        Plant("frame-state", "own", FRAME, "    LZ4_stream_t lz4ctx;\n", "    static LZ4_stream_t lz4ctx;\n", (Sight(UNORDERED + WRONG, functions=("LZ4F_compressFrame",)),)),
    )

    def build(self, b):
        self.rebuild(b)
        b.make("-C", "programs", "lz4", "MOREFLAGS=-g")  # Debian's links with the library

    def rebuild(self, b):
        b.make("-C", "lib", "liblz4.a", "MOREFLAGS=-g")
        b.run(*b.tool.cc.split(), "-O1", "-g", "-pthread", "-Ilib", str(self.clients / "lz4-blocks.c"), "-o", "lz4-blocks", "lib/liblz4.a")


PROGRAM = Lz4
