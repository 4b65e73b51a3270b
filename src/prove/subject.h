/* The subject program of a search: its engine variant, how it is started, its places, and witnesses in terms of them.
 * Layer: prove. */
#ifndef DH_PROVE_SUBJECT_H
#define DH_PROVE_SUBJECT_H

#include "prove/children.h"
#include "prove/end_finding.h"
#include "prove/engine_process.h"
#include "prove/place_names.h"
#include "prove/replay.h"
#include "prove/witness.h"

struct dh_subject {
    struct dh_subject_start start;
    struct dh_place_names *places;
    struct dh_finding_resolver *resolver;
    struct dh_end_context end_context;
    char *program, *called; /* the file; argv[0] */
    char *plan;             /* of the variant */
    char *child;            /* program of the child that start.follow names; NULL: it is the program itself */
    char *irrevocable;      /* the call because of which each schedule has a fresh process (start.fresh), or NULL */
    char build[33];
    char library_builds[DH_ENGINE_LIBRARIES][33]; /* of end_context.libraries; "": not known */
    struct dh_children children; /* that make threads, after a run of the program in which it made none itself */
};

/* `program` is the file, `variant` what dh_variant_derive made of it, `libraries` are the variants of those that it
 * loads, ended by NULL, or NULL. argv and input are borrowed. An error when nothing in it is instrumented. */
bool dh_subject_open(struct dh_subject *s, const char *program, const char *variant, char *const *libraries,
                     char **argv, const char *input, struct dh_err *err);
void dh_subject_release(struct dh_subject *s);

/* Instrumented libraries that a process of it loaded, and that nobody knew of. */
void dh_subject_add_libraries(struct dh_subject *s, const struct dh_engine_library *met, uint32_t n);

/* After a run that ended with `text` since a call cannot be undone (`irrevocable`): from now on each schedule has a
 * fresh process. False: that is not why, or is so already. */
bool dh_subject_take_second_way(struct dh_subject *s, bool irrevocable, const char *text);
/* After a run in which the program made no thread. */
void dh_subject_learn_children(struct dh_subject *s, const struct dh_engine_control *r);

/* The witness of an end that a schedule leads to. */
void dh_subject_make_witness(struct dh_subject *s, const struct dh_schedule *schedule,
                             const struct dh_engine_found *end, const char *finding, struct dh_witness *out);

/* A witness in terms of the places of this build. Owns its memory. */
struct dh_resolved_witness {
    DH_VEC(struct dh_engine_decision) decisions;
    dh_engine_marks *visible;
    struct dh_engine_found *end;
    uint32_t flags;
    struct dh_engine_value *values; /* per decision, after a replay; or NULL */
    char model[16];
    uint8_t *stale; /* marks of adversarial places */
    struct dh_engine_foreseen foreseen[DH_ENGINE_FORESEEN];
    uint32_t n_foreseen;
    struct dh_racy_element elements[DH_ENGINE_ELEMENTS];
    uint32_t n_elements;
};
/* False when the witness is of another build, or of other inputs. */
bool dh_subject_resolve_witness(struct dh_subject *s, const struct dh_witness *w, struct dh_resolved_witness *out,
                                struct dh_err *err);
void dh_resolved_witness_release(struct dh_resolved_witness *p);
struct dh_schedule dh_resolved_witness_schedule(const struct dh_resolved_witness *p);

/* A text of the engine with "place N" replaced by the source line. Owned by the caller. */
char *dh_subject_explain_places(struct dh_subject *s, const char *text);

/* Bytes that an access at the place touches; 0: unknown. For dh_schedule_minimise. */
uint32_t dh_subject_access_size(void *subject, uint32_t place);

#endif
