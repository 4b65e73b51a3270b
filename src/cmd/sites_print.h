/* Site tables for people and for programs. Layer: cmd. Prints row by row: a table may have 100,000 of them. */
#ifndef DH_CMD_SITES_PRINT_H
#define DH_CMD_SITES_PRINT_H

#include "driver/sparse.h"
#include "event/scope_table.h"
#include "event/site.h"

#include <stdio.h>

void dh_sites_print_text(FILE *out, const struct dh_site_table *t);
void dh_sites_print_json(FILE *out, const struct dh_site_table *t);
void dh_sites_print_safe(FILE *out, const struct dh_site_table *t, const struct dh_sparse_proofs *facts);
void dh_scopes_print_text(FILE *out, const struct dh_scope_table *t, const struct dh_site_table *sites);

#endif
