/* One process of the engine variant at work on one job: made, watched, ended. Layer: prove (event/engine.h is what it
 * shares with the program). The region lives until the run is freed. */
#ifndef DH_PROVE_CONTROL_H
#define DH_PROVE_CONTROL_H

#include "event/engine.h"
#include "host/err.h"
#include "prove/elements.h"

#include <stdbool.h>
#include <stdint.h>

/* How the program is started, the same for every job. */
struct dh_start {
    const char *variant; /* file to execute */
    char **argv;
    const char *input;          /* file that is standard input; NULL: nothing */
    char **environment;         /* NAME=VALUE that replace those of ours; NULL: none */
    uint32_t places;            /* that the variant has */
    const char *const *through; /* words before the program, such as a debugger's, which gets our streams; NULL: none */
};

/* Loads that answer other values than the newest: which, by which model, and which ends are no surprise. */
struct dh_adversary {
    char model[16];       /* "": none */
    const uint8_t *marks; /* a byte per place: enum dh_engine_adversary; NULL: none */
    const struct dh_engine_outcome *outcomes;
    uint32_t n_outcomes;
    const struct dh_engine_foreseen *foreseen; /* writes that decisions of a replay speak of; borrowed */
    uint32_t n_foreseen;
    const struct dh_element *elements; /* that are watched wherever others are sampled; borrowed */
    uint32_t n_elements;
    uint32_t threads; /* that the program is known to have; 0: not known */
    bool judges;      /* ends that are not among them count as wrong */
};

struct dh_work {
    struct dh_engine_job job;
    const dh_engine_marks *visible; /* per place; NULL: none */
    const struct dh_engine_decision *prefix;
    uint32_t prefix_length;
    struct dh_adversary adversary;
    uint64_t found_bytes; /* room for what is found; 0: enough for one */
    int output;           /* descriptor for standard output and error; -1: nowhere; -2: ours */
};
enum { DH_OUTPUT_NOWHERE = -1, DH_OUTPUT_OURS = -2 };

struct dh_control;
/* NULL when it could not be started. */
struct dh_control *dh_control_start(const struct dh_start *start, const struct dh_work *work, struct dh_err *err);
struct dh_engine_control *dh_control_region(struct dh_control *c);
/* Has the process ended? */
bool dh_control_ended(struct dh_control *c);
/* Asks the engine to stop; after `patience_ns` the process is killed by dh_control_wait. */
void dh_control_stop(struct dh_control *c);
/* Until it ended, or until so many nanoseconds passed: then it is killed. False: it had to be. */
bool dh_control_wait(struct dh_control *c, uint64_t patience_ns);
/* As of waitpid, once it has ended. */
int dh_control_status(const struct dh_control *c);
/* Kills what is left. */
void dh_control_free(struct dh_control *c);

uint64_t dh_now_ns(void);

#endif
