/* A program written down in a test, and what the analyses make of it. */
#ifndef DH_TEST_ANALYSIS_ANALYSED_H
#define DH_TEST_ANALYSIS_ANALYSED_H

#include "analysis/races.h"
#include "model/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

struct analysed {
    struct dh_program program;
    struct dh_points_to points_to;
    struct dh_symex symex;
    struct dh_conflicts conflicts;
};

static inline void analyse(struct analysed *a, const char *text)
{
    struct dh_err err = {0};
    if (!dh_program_parse(&a->program, "example", text, &err)) {
        fprintf(stderr, "%s\n", text); /* longer than a message may be */
        fail_msg("%s", err.text);
    }
    dh_points_to_init(&a->points_to, &a->program);
    dh_points_to_run(&a->points_to);
    dh_symex_init(&a->symex, &a->points_to);
    dh_symex_run(&a->symex);
    dh_conflicts_init(&a->conflicts, &a->symex);
    dh_conflicts_run(&a->conflicts);
}

static inline void forget(struct analysed *a)
{
    dh_conflicts_release(&a->conflicts);
    dh_symex_release(&a->symex);
    dh_points_to_release(&a->points_to);
    dh_program_release(&a->program);
}

#endif
