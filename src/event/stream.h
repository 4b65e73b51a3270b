/* The stream of events of a running process, in memory that it shares with the tool. Layer: event (runtime writes,
 * trace/live.c reads). Format: docs/formats/stream.md. One sparse file for each process, in a folder of the tool's:
 * what was written there outlives the process. The reader trusts nothing in it: the program may have scribbled.
 *
 * Events stand in lanes. A lane is a chain of blocks with one writer: a thread, or a signal handler that interrupted
 * the recorder in it. Records are whole 64-bit words and count once `used` of their block says so. */
#ifndef DH_EVENT_STREAM_H
#define DH_EVENT_STREAM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define DH_STREAM_MAGIC "DHSTREAM"
#define DH_STREAM_SUFFIX ".dhs"
#define DH_STREAM_ENDIANNESS 0x01020304u

enum {
    DH_STREAM_VERSION = 1,
    DH_STREAM_PATH = 4096,
    DH_STREAM_MODULES = 512,
    DH_STREAM_CONTEXTS = 1 << 24,
    DH_STREAM_THREADS = 1 << 20,
    DH_STREAM_LANES = 1 << 14,
    DH_STREAM_BLOCKS = 1 << 15,
    DH_STREAM_BLOCK_WORDS = 4096,
    DH_STREAM_RUNS = 128, /* of each kind, reads and writes */
    DH_STREAM_NAME = 16
};

/* ---- records: the lowest four bits of the first word ---- */

enum dh_stream_record {
    DH_STREAM_NOTHING, /* never written */
    /* flags | bytes << 8 | place << 32; address */
    DH_STREAM_ACCESS,
    /* The same; address of the first; count | stride << 32 (signed): so many accesses. */
    DH_STREAM_RUN,
    /* context << 32: where what follows happens. */
    DH_STREAM_CONTEXT,
    /* thread << 32: whose the lane is from here on. Comes first; a lane is given on when its thread ends. */
    DH_STREAM_THREAD,
    /* kind << 8 | flags << 16 | place << 32; address; arg; seq */
    DH_STREAM_EVENT,
    /* lane << 32; words: what that lane had published by then comes first. In the lane of a signal handler. */
    DH_STREAM_AFTER,
    /* kind << 8 | place << 32; address: as an event without a seq of its own. */
    DH_STREAM_SCOPE,
    /* kind << 8 | flags << 16 | place << 32; address; arg: the same. */
    DH_STREAM_COLLISION,
    DH_STREAM_RECORDS
};

enum { DH_STREAM_WROTE = 1 << 4, DH_STREAM_LIBRARY = 1 << 5 };
#define DH_STREAM_SIZE_MOST ((1u << 24) - 1)

/* ---- the file ---- */

struct dh_stream_block {
    _Atomic uint32_t used; /* words published */
    _Atomic uint32_t next; /* of the lane, or of the free blocks: index + 1 */
    uint32_t unused[14];
    uint64_t words[DH_STREAM_BLOCK_WORDS - 8];
};

/* Accesses of one place that go on as expected, not written yet. [start, next) in steps of `stride`; empty when both
 * are the same. `next` has the upper bits of the place above the address: one comparison tells both. */
struct dh_stream_run {
    uint64_t next; /* 0: no run */
    int64_t stride;
    uint64_t start;
    uint32_t place, context;
    uint32_t size;
    uint32_t unused[3];
};
#define DH_STREAM_RUN_KEY(addr, place) ((uint64_t)(addr) ^ (uint64_t)((place) / DH_STREAM_RUNS) << 48)

struct dh_stream_lane {
    _Atomic uint32_t first;  /* block, index + 1; 0: none yet */
    _Atomic uint32_t thread; /* whose runs these are */
    _Atomic uint32_t filled; /* blocks that are full */
    _Atomic uint32_t read;   /* of them, by the reader */
    uint32_t unused[12];
    struct dh_stream_run runs[2 * DH_STREAM_RUNS]; /* reads, then writes */
};

struct dh_stream_context {
    uint64_t return_address; /* 0: not written yet */
    uint32_t parent;
    uint32_t unused;
};

struct dh_stream_thread {
    uint32_t parent, context;
    _Atomic uint32_t known;
    char name[DH_STREAM_NAME];
    uint32_t unused;
};

struct dh_stream_module {
    uint64_t low, high, load;
    uint32_t first_place; /* UINT32_MAX: it has none, or is not known to have any yet */
    uint32_t unused;
    uint8_t id[16];
    char path[968];
};

enum dh_stream_state { DH_STREAM_RUNS_NOW = 1, DH_STREAM_ENDED };

struct dh_stream_header {
    char magic[8];
    uint32_t version, endianness;
    uint64_t size; /* of the file */
    uint32_t pid;
    _Atomic uint32_t state;
    uint64_t started; /* seconds since 1970 */
    uint8_t id[16];   /* of the executable */
    _Atomic uint32_t n_modules, modules_changed, n_lanes, n_blocks;
    _Atomic uint32_t closed;                   /* by the reader: nobody reads any more */
    _Atomic uint64_t lost;                     /* events that there was no room for */
    _Atomic uint64_t unused_numbers;           /* of the order; taken by who was led away at once */
    _Alignas(64) _Atomic uint64_t seq;         /* the last that was taken */
    _Alignas(64) _Atomic uint64_t free_blocks; /* number of changes << 32 | index + 1 of the first */
    _Atomic uint32_t freed;                    /* futex: changes with every block that is read */
    _Atomic uint32_t waiting;                  /* threads that wait for it */
    _Alignas(64) char variant[256];
    char program[DH_STREAM_PATH], original[DH_STREAM_PATH]; /* "" = none */
};

/* Where the parts lie, each at a page. */
#define DH_STREAM_PAGES(n) (((uint64_t)(n) + 4095) & ~(uint64_t)4095)
#define DH_STREAM_MODULES_AT DH_STREAM_PAGES(sizeof(struct dh_stream_header))
#define DH_STREAM_THREADS_AT DH_STREAM_PAGES(DH_STREAM_MODULES_AT + DH_STREAM_MODULES * sizeof(struct dh_stream_module))
#define DH_STREAM_CONTEXTS_AT                                                                                          \
    DH_STREAM_PAGES(DH_STREAM_THREADS_AT + DH_STREAM_THREADS * sizeof(struct dh_stream_thread))
#define DH_STREAM_LANES_AT                                                                                             \
    DH_STREAM_PAGES(DH_STREAM_CONTEXTS_AT + DH_STREAM_CONTEXTS * sizeof(struct dh_stream_context))
#define DH_STREAM_BLOCKS_AT DH_STREAM_PAGES(DH_STREAM_LANES_AT + DH_STREAM_LANES * sizeof(struct dh_stream_lane))
#define DH_STREAM_FILE (DH_STREAM_BLOCKS_AT + DH_STREAM_BLOCKS * sizeof(struct dh_stream_block))

_Static_assert(sizeof(struct dh_stream_block) == DH_STREAM_BLOCK_WORDS * 8, "blocks are whole pages");

#endif
