/* Bytes of a site table: this header, then sites, chains and the string pool, as in memory. Layer: event.
 * Every part is a multiple of four bytes but the pool, which comes last. */
#ifndef DH_EVENT_SITE_FORMAT_H
#define DH_EVENT_SITE_FORMAT_H

#include <stdint.h>

#define DH_SITES_MAGIC "DHSITES1"
#define DH_SITES_VERSION 2u
#define DH_SITES_ENDIANNESS 0x01020304u

struct dh_site_header {
    char magic[8];
    uint32_t version, endianness;
    uint32_t n_sites, n_chains, n_strings;
    uint32_t reserved;
};

#endif
