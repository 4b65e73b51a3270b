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
    struct dh_shapes shapes;
    struct dh_walk walk;
    struct dh_conflicts conflicts;
};

static inline void analyse(struct analysed *a, const char *text)
{
    struct dh_err err = {0};
    if (!dh_program_parse(&a->program, "example", text, &err)) {
        fprintf(stderr, "%s\n", text); /* longer than a message may be */
        fail_msg("%s", err.text);
    }
    dh_shapes_init(&a->shapes, &a->program);
    dh_shapes_run(&a->shapes);
    dh_walk_init(&a->walk, &a->shapes);
    dh_walk_run(&a->walk);
    dh_conflicts_init(&a->conflicts, &a->walk);
    dh_conflicts_run(&a->conflicts);
}

static inline void forget(struct analysed *a)
{
    dh_conflicts_release(&a->conflicts);
    dh_walk_release(&a->walk);
    dh_shapes_release(&a->shapes);
    dh_program_release(&a->program);
}

#endif
