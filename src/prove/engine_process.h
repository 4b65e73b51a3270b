/* A process of the engine variant that works on one job: start, watch, stop. Layer: prove. It shares the control region
 * (event/engine.h) with the tool; the region lives until dh_engine_process_free. */
#ifndef DH_PROVE_ENGINE_PROCESS_H
#define DH_PROVE_ENGINE_PROCESS_H

#include "event/engine.h"
#include "host/deadline.h"
#include "host/err.h"
#include "prove/racy_elements.h"

#include <stdbool.h>
#include <stdint.h>

/* How the program is started; the same for every job. */
struct dh_subject_start {
    const char *variant; /* file to execute */
    char **argv;
    const char *input;  /* file for standard input; NULL: none */
    char **environment; /* NAME=VALUE, in addition to ours; NULL: none */
    uint32_t places;    /* of the variant */
    const char *const
        *through;       /* command before the program, such as a debugger, which inherits our streams; NULL: none */
    unsigned perturbed; /* 0: no; else which way: another size of environment, and so depth of the stack, and other
                           bytes in memory that nobody has written */
};

/* Adversarial memory: the places and model of stale values, and the outcomes that are right. */
struct dh_adversary_setup {
    char model[16];       /* "": none */
    const uint8_t *marks; /* a byte per place: enum dh_engine_adversary; NULL: none */
    const struct dh_engine_outcome *outcomes;
    uint32_t n_outcomes;
    const struct dh_engine_foreseen *foreseen; /* future writes that decisions of a replay name; borrowed */
    uint32_t n_foreseen;
    const struct dh_racy_element *elements; /* always served where others are sampled; borrowed */
    uint32_t n_elements;
    uint32_t threads; /* of the program; 0: unknown */
    bool judges;      /* an outcome that is not among them is the end WRONG */
};

/* A job with its tables. */
struct dh_engine_request {
    struct dh_engine_job job;
    const dh_engine_marks *visible; /* per place; NULL: none */
    const struct dh_engine_decision *prefix;
    uint32_t prefix_length;
    struct dh_adversary_setup adversary;
    uint64_t found_bytes; /* room for ends; 0: 16 MB */
    int output;           /* descriptor for standard output and error, or one of the constants below */
    int errors;           /* another one for standard error; 0: that of `output` */
};
enum { DH_OUTPUT_DISCARDED = -1, DH_OUTPUT_INHERITED = -2 };

struct dh_engine_process;
/* NULL when it could not be started. */
struct dh_engine_process *dh_engine_process_start(const struct dh_subject_start *start,
                                                  const struct dh_engine_request *work, struct dh_err *err);
struct dh_engine_control *dh_engine_process_region(struct dh_engine_process *c);
bool dh_engine_process_ended(struct dh_engine_process *c);
/* Asks the engine to stop. */
void dh_engine_process_stop(struct dh_engine_process *c);
/* Until it ended; after `patience_ns` it is killed. False: it was. */
bool dh_engine_process_wait(struct dh_engine_process *c, uint64_t patience_ns);
/* As of waitpid, after its end. */
int dh_engine_process_status(const struct dh_engine_process *c);
/* Kills the process if it runs. */
void dh_engine_process_free(struct dh_engine_process *c);

#endif
