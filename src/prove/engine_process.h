/* One process of the engine variant at work on one job: made, watched, ended. Layer: prove (event/engine.h is what it
 * shares with the program). The region lives until the run is freed. */
#ifndef DH_PROVE_ENGINE_PROCESS_H
#define DH_PROVE_ENGINE_PROCESS_H

#include "event/engine.h"
#include "host/err.h"
#include "prove/racy_elements.h"

#include <stdbool.h>
#include <stdint.h>

/* How the program is started, the same for every job. */
struct dh_subject_start {
    const char *variant; /* file to execute */
    char **argv;
    const char *input;          /* file that is standard input; NULL: nothing */
    char **environment;         /* NAME=VALUE that replace those of ours; NULL: none */
    uint32_t places;            /* that the variant has */
    const char *const *through; /* words before the program, such as a debugger's, which gets our streams; NULL: none */
};

/* Loads that answer other values than the newest: which, by which model, and which ends are no surprise. */
struct dh_adversary_setup {
    char model[16];       /* "": none */
    const uint8_t *marks; /* a byte per place: enum dh_engine_adversary; NULL: none */
    const struct dh_engine_outcome *outcomes;
    uint32_t n_outcomes;
    const struct dh_engine_foreseen *foreseen; /* writes that decisions of a replay speak of; borrowed */
    uint32_t n_foreseen;
    const struct dh_racy_element *elements; /* that are watched wherever others are sampled; borrowed */
    uint32_t n_elements;
    uint32_t threads; /* that the program is known to have; 0: not known */
    bool judges;      /* ends that are not among them count as wrong */
};

struct dh_engine_request {
    struct dh_engine_job job;
    const dh_engine_marks *visible; /* per place; NULL: none */
    const struct dh_engine_decision *prefix;
    uint32_t prefix_length;
    struct dh_adversary_setup adversary;
    uint64_t found_bytes; /* room for what is found; 0: enough for one */
    int output;           /* descriptor for standard output and error; -1: nowhere; -2: ours */
};
enum { DH_OUTPUT_DISCARDED = -1, DH_OUTPUT_INHERITED = -2 };

struct dh_engine_process;
/* NULL when it could not be started. */
struct dh_engine_process *dh_engine_process_start(const struct dh_subject_start *start,
                                                  const struct dh_engine_request *work, struct dh_err *err);
struct dh_engine_control *dh_engine_process_region(struct dh_engine_process *c);
/* Has the process ended? */
bool dh_engine_process_ended(struct dh_engine_process *c);
/* Asks the engine to stop; after `patience_ns` the process is killed by dh_engine_process_wait. */
void dh_engine_process_stop(struct dh_engine_process *c);
/* Until it ended, or until so many nanoseconds passed: then it is killed. False: it had to be. */
bool dh_engine_process_wait(struct dh_engine_process *c, uint64_t patience_ns);
/* As of waitpid, once it has ended. */
int dh_engine_process_status(const struct dh_engine_process *c);
/* Kills what is left. */
void dh_engine_process_free(struct dh_engine_process *c);

uint64_t dh_now_ns(void);

#endif
