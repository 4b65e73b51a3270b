/* Bytes of a .dht file: a header, then chunks, the last of them the index. Layer: trace. docs/formats/trace.md tells
 * what is in them. Numbers are little-endian, as the machine's. */
#ifndef DH_TRACE_DHT_FORMAT_H
#define DH_TRACE_DHT_FORMAT_H

#include <stdint.h>

#define DH_DHT_MAGIC "DHTRACE1"
#define DH_DHT_VERSION 1u
#define DH_DHT_ENDIANNESS 0x01020304u

struct dh_dht_header {
    char magic[8];
    uint32_t version, endianness;
};

enum dh_dht_chunk_kind { DH_DHT_META = 1, DH_DHT_EVENTS = 2, DH_DHT_INDEX = 3 };

struct dh_dht_chunk {
    uint32_t kind;
    uint32_t stored, raw; /* bytes that follow, compressed by zstd; bytes they become */
    uint32_t count;       /* events; entries of the index */
    uint64_t hash;        /* XXH3 of the fields above and what follows */
};
#define DH_DHT_HASHED 16u /* bytes of a chunk's header that the hash covers */

/* One for each chunk of events. */
struct dh_dht_index_entry {
    uint64_t offset, first_seq;
    uint32_t events, accesses;
};

/* The last bytes of a file that was closed. */
struct dh_dht_trailer {
    uint64_t index; /* offset of its chunk */
    char magic[8];
};
#define DH_DHT_TRAILER_MAGIC "DHTINDEX"

enum {
    DH_DHT_BLOCK_EVENTS = 1 << 17,
    DH_DHT_RAW_MOST = 1 << 26 /* nothing of ours comes near */
};

#endif
