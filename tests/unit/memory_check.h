/* Comparing outcomes: shown with the program when they differ. */
#ifndef DH_TESTS_MEMORY_CHECK_H
#define DH_TESTS_MEMORY_CHECK_H

#include "memory_oracle.h"

#include <stdio.h>
#include <stdlib.h>

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

#endif
