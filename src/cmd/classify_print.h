/* Verdicts in words and as the table of 004 (Fig. 9). Layer: cmd. */
#ifndef DH_CMD_CLASSIFY_PRINT_H
#define DH_CMD_CLASSIFY_PRINT_H

#include "classify/classify.h"

/* `path` is the witness, "" for none; `whole`: long interleavings, too. */
void dh_classified_print(const struct dh_classified *c, struct dh_subject *s, const char *path, bool whole);
/* How far it is, on standard error when that is a terminal; the line vanishes with NULL. */
void dh_classify_progress(const char *variable, const char *what, uint64_t left_ns);
void dh_baseline_print(const struct dh_baseline *b);

/* Rows are kept until all are there. Zero-initialise. */
struct dh_classified_row {
    char *name;
    const char *verdict;
    struct dh_classify_column columns[DH_CLASSIFY_COLUMNS];
    unsigned n_columns;
};
struct dh_classified_table {
    DH_VEC(struct dh_classified_row) rows;
};
void dh_classified_table_add(struct dh_classified_table *t, const struct dh_classified *c);
void dh_classified_table_print(const struct dh_classified_table *t);
void dh_classified_table_release(struct dh_classified_table *t);

#endif
