/* The section .deadheat of an executable or library: named parts, compressed and hashed. Layer: image. Format:
 * docs/formats/container.md. Input is untrusted: nothing is used before its hash was checked. */
#ifndef DH_IMAGE_CONTAINER_H
#define DH_IMAGE_CONTAINER_H

#include "base/vec.h"
#include "host/err.h"
#include "host/file.h"

#include <stdbool.h>
#include <stdint.h>

#define DH_CONTAINER_SECTION ".deadheat"
#define DH_CONTAINER_VERSION 1

/* Part names. */
#define DH_PART_MODULE "module" /* bitcode of the merged program, with numbered sites */
#define DH_PART_SITES "sites"   /* site table */
#define DH_PART_LINK "link"     /* link recipe (driver/link_recipe.h) */
#define DH_PART_UNITS "units"   /* what was merged and what was not, as text lines */
#define DH_PART_PLACES "places" /* of this variant: (site, chain) pairs, and its chains */
#define DH_PART_SAFE "safe"     /* proofs for sparse instrumentation (driver/sparse.h) */
#define DH_PART_SCOPES "scopes" /* what critical sections may access */

struct dh_id {
    uint8_t bytes[16];
};
void dh_id_text(const struct dh_id *id, char text[33]);
struct dh_id dh_content_hash(const void *bytes, size_t n);

struct dh_container_part {
    char name[8];
    uint64_t offset, stored, raw;
    struct dh_id hash; /* of the stored bytes */
};

struct dh_container {
    struct dh_id id; /* of the program: hash of module and sites */
    char variant[32];
    struct dh_bytes section; /* the section's bytes, for reading parts on demand */
    DH_VEC(struct dh_container_part) parts;
};

struct dh_container_writer;
struct dh_container_writer *dh_container_writer_new(const char *variant);
/* Compresses and adds; level as zstd's. */
bool dh_container_add(struct dh_container_writer *w, const char *part, const void *bytes, size_t n, struct dh_err *err);
/* Adds a part of another container as it is. */
bool dh_container_copy(struct dh_container_writer *w, const struct dh_container *from, const char *part,
                       struct dh_err *err);
/* Returns the section's bytes and frees the writer. */
struct dh_bytes dh_container_finish(struct dh_container_writer *w, const struct dh_id *id);

/* Opens the container of an ELF file; the message says what is wrong with which file and what to do. */
bool dh_container_open(struct dh_container *c, const char *path, struct dh_err *err);
/* Whether the file has one at all, sound or damaged. */
bool dh_container_present(const char *path);
/* From the bytes of a section; takes ownership of them. */
bool dh_container_parse(struct dh_container *c, const char *name, struct dh_bytes section, struct dh_err *err);
void dh_container_release(struct dh_container *c);
const struct dh_container_part *dh_container_find(const struct dh_container *c, const char *part);
/* Checks the hashes of all parts. */
bool dh_container_check(const struct dh_container *c, struct dh_err *err);
bool dh_container_read(const struct dh_container *c, const char *part, struct dh_bytes *out, struct dh_err *err);

/* A relocatable ELF object whose only content is that section. */
bool dh_container_write_object(const char *path, const struct dh_bytes *section, struct dh_err *err);

#endif
