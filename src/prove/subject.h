/* The program of which something is to be proven: its variant, how it is started, its places. Layer: prove. */
#ifndef DH_PROVE_SUBJECT_H
#define DH_PROVE_SUBJECT_H

#include "prove/control.h"
#include "prove/ending.h"
#include "prove/place_names.h"
#include "prove/replay.h"
#include "prove/witness.h"

struct dh_subject {
    struct dh_start start;
    struct dh_place_names *places;
    struct dh_finding_resolver *resolver;
    struct dh_ending_of of;
    char *program, *called; /* the file; what the user calls it */
    char build[33];
};

/* `program` is the file, `variant` what dh_variant_derive made of it; argv[0] what the user calls it. argv and input
 * are borrowed. One line when it is no program of ours. */
bool dh_subject_open(struct dh_subject *s, const char *program, const char *variant, char **argv, const char *input,
                     struct dh_err *err);
void dh_subject_release(struct dh_subject *s);

/* What a process of it says of itself: which libraries it loaded. */
void dh_subject_learn(struct dh_subject *s, const struct dh_engine_progress *p);

/* The witness of an end that a schedule leads to. */
void dh_subject_witness(struct dh_subject *s, const struct dh_schedule *schedule, const struct dh_engine_found *end,
                        const char *finding, struct dh_witness *out);

/* The same backwards. Owns what it holds. */
struct dh_plot {
    DH_VEC(struct dh_engine_decision) decisions;
    dh_engine_marks *visible;
    struct dh_engine_found *end;
    uint32_t flags;
    struct dh_engine_value *values; /* per decision, when it was run; or NULL */
    char model[16];
    uint8_t *stale; /* a byte per place */
    struct dh_engine_foreseen foreseen[DH_ENGINE_FORESEEN];
    uint32_t n_foreseen;
    struct dh_element elements[DH_ENGINE_ELEMENTS];
    uint32_t n_elements;
};
/* False with one line when the witness is not of this build, or not of these inputs. */
bool dh_subject_plot(struct dh_subject *s, const struct dh_witness *w, struct dh_plot *out, struct dh_err *err);
void dh_plot_release(struct dh_plot *p);
struct dh_schedule dh_plot_schedule(const struct dh_plot *p);

/* A line of the engine's with its "place N" in words of the source. Owned by the caller. */
char *dh_subject_explain(struct dh_subject *s, const char *text);

/* How many bytes an access of the place touches; 0: not known. For dh_minimise. */
uint32_t dh_subject_bytes(void *subject, uint32_t place);

#endif
