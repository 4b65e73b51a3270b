/* Comparing outcomes: shown with the program when they differ. */
#ifndef DH_TESTS_MEMORY_CHECK_H
#define DH_TESTS_MEMORY_CHECK_H

#include "memory_oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline unsigned how_many(unsigned usual)
{
    const char *n = getenv("PROGRAMS");
    return n ? (unsigned)strtoul(n, NULL, 10) : usual;
}

static inline void show(const char *what, const struct litmus *l, const struct outcomes *o)
{
    char text[4096];
    outcomes_print(l, o, text, sizeof text);
    fprintf(stderr, "  %-8s %s\n", what, text);
}

static inline bool agree(const struct litmus *l, const char *a_name, const struct outcomes *a, const char *b_name,
                         const struct outcomes *b)
{
    if (outcomes_equal(a, b))
        return true;
    char text[1024];
    litmus_print(l, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    show(a_name, l, a);
    show(b_name, l, b);
    return false;
}

struct litmus_row {
    const char *name, *text, *final, *outcome, *allowed; /* letters of models that allow the outcome */
};

/* What the literature says of the outcome, and all outcomes as the axioms say. Answers how many rows were wrong. */
static inline unsigned check_rows(const struct dh_memory_model *model, char letter, const struct litmus_row *rows,
                                  unsigned n, void (*oracle)(const struct litmus *, struct outcomes *))
{
    static struct outcomes ours, theirs, outcome;
    unsigned wrong = 0;
    for (const struct litmus_row *row = rows; row < rows + n; row++) {
        struct litmus l;
        struct litmus_run run = {.model = model};
        litmus_parse(&l, row->text, row->final);
        litmus_explore(&run, &l, &ours);
        oracle(&l, &theirs);
        outcomes_parse(&outcome, row->outcome);
        bool allowed = strchr(row->allowed, letter) || (letter == 'M' && strchr(row->allowed, 'H')),
             is_right = outcomes_has(&ours, outcome.at[0]) == allowed;
        if (!is_right)
            fprintf(stderr, "%s: %s is %s under %s\n", row->name, row->outcome, allowed ? "forbidden" : "allowed",
                    model->name);
        wrong += !is_right;
        wrong += !agree(&l, model->name, &ours, "axioms", &theirs);
        wrong += run.lost.removed || run.lost.narrowed || run.lost.no_memory;
    }
    return wrong;
}

#endif
