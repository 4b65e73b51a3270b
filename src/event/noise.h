/* Noise specifications (001 §3.3): `--noise=CLAUSE[;CLAUSE...]`. Layer: event (the tool validates and resolves targets,
 * the runtime injects the noise). No libc, no memory of its own; names point into the text. */
#ifndef DH_EVENT_NOISE_H
#define DH_EVENT_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dh_noise_kind {
    DH_NOISE_RANDOM,   /* at any access and synchronisation */
    DH_NOISE_SYNC,     /* at synchronisation only */
    DH_NOISE_VARIABLE, /* at accesses of the variables named */
    DH_NOISE_LOCATION, /* at the lines named */
    DH_NOISE_AUTO,     /* where conflicting accesses did not meet yet, within a budget */
    DH_NOISE_KINDS
};

enum dh_noise_how { DH_NOISE_SLEEP, DH_NOISE_YIELD, DH_NOISE_BUSY, DH_NOISE_HOWS };

struct dh_noise_clause {
    uint8_t kind, how;
    uint8_t group;        /* of the clauses that name targets, which this is: 0, 1, ... */
    uint16_t frequency;   /* of 1000 */
    uint32_t nanoseconds; /* of sleeping or waiting */
    uint32_t percent;     /* AUTO: of the time that may be spent */
    const char *name;     /* of the target; '@suspected' and '@findings' stand for what the store has */
    size_t n_name;
};

enum { DH_NOISE_CLAUSES = 8 };

struct dh_noise {
    struct dh_noise_clause clause[DH_NOISE_CLAUSES];
    unsigned n;
};

struct dh_noise_error {
    unsigned column; /* from 1 */
    char text[220];
};

/* False with what was expected in `e`. */
bool dh_noise_read(struct dh_noise *noise, const char *text, struct dh_noise_error *e);

#endif
