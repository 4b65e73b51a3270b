/* Critical sections as the link step found them: what they may access, and which values reach them (part `scopes`).
 * Layer: event (tool reads). Read-only view into the caller's bytes, which are not trusted; strings are offsets into
 * the program's site table. Format: docs/formats/container.md. */
#ifndef DH_EVENT_SCOPE_TABLE_H
#define DH_EVENT_SCOPE_TABLE_H

#include "event/site.h"

/* A section, by the lock call that begins it; or, when that call is in a function that returns with the lock held, by
 * the call of that function. */
struct dh_scope_row {
    uint32_t site;                   /* of the lock call, or DH_NO_SITE */
    uint32_t function, line, column; /* of the call, when there is no site; `function` is a string */
    uint32_t first;                  /* its names begin there: first those that are read, then those written */
    uint32_t reads, writes;
};

/* A value that is read at one site and reaches, or decides over, what is done later under a lock that is taken at
 * another: what methods need to tell a stale value from two things that have nothing to do with each other. */
enum dh_flow {
    DH_FLOW_DATA = 1,    /* used in that section, or passed to the function that has it */
    DH_FLOW_CONTROL = 2, /* decides whether the section is entered */
    DH_FLOW_DECIDES = 4, /* with no lock, of writes, too: the function reads the variable and a branch depends on it */
    /* With no lock, of both accesses: the function reads the variable, and without having taken or given a lock since
     * then, */
    DH_FLOW_UPDATES = 8, /* writes to it what it computed from that */
    DH_FLOW_CHECKS = 16, /* writes it or uses it again, since it read what it read */
    /* Of a lock call and, in the place of the lock, a wait for a condition: */
    DH_FLOW_WAITS = 32,         /* the section may come to that wait, and gives up its lock there */
    DH_FLOW_NOBODY_SIGNALS = 64 /* no code of the program signals the condition */
};

struct dh_flow_row {
    uint32_t read, lock; /* sites; `lock` may be DH_NO_SITE */
    uint32_t how;        /* dh_flow */
};

struct dh_scope_table {
    const struct dh_scope_row *rows; /* those with a site come first, in order of it */
    const uint32_t *names;           /* strings: variables as the site table calls them */
    const struct dh_flow_row *flows; /* in order of read and lock */
    uint32_t n_rows, n_names, n_flows;
};

#define DH_SCOPES_MAGIC 0x43534844u /* "DHSC" */
#define DH_SCOPES_VERSION 1u

struct dh_scope_header {
    uint32_t magic, version, n_rows, n_names, n_flows;
};

bool dh_scope_table_read(struct dh_scope_table *t, const void *bytes, size_t n, const char **why);
/* The section that is begun by the lock call at a site that was inlined along a chain (of table `from`); NULL when
 * nothing is known of it. */
const struct dh_scope_row *dh_scope_find(const struct dh_scope_table *t, const struct dh_site_table *sites,
                                         uint32_t site, uint32_t chain, const struct dh_site_table *from);
/* dh_flow bits of what is known of the two; 0: the one has nothing to do with the other. */
uint32_t dh_flow_find(const struct dh_scope_table *t, uint32_t read, uint32_t lock);
/* The n-th wait that the section may come to that is begun by the lock call; NULL after the last. */
const struct dh_flow_row *dh_flow_wait(const struct dh_scope_table *t, uint32_t lock_call, unsigned n);

#endif
