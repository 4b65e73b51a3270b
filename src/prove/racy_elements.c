#include "prove/racy_elements.h"

#include "base/str.h"
#include "host/symbolize.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMENSIONS = 8 };

/* ---- of findings ---- */

/* "global 'grid' of size 800 ..." */
static bool name_of(const char *object, char *out, size_t room)
{
    const char *from = strncmp(object, "global '", 8) == 0 ? object + 8 : NULL;
    const char *to = from ? strchr(from, '\'') : NULL;
    if (!to || to == from || (size_t)(to - from) >= room)
        return false;
    snprintf(out, room, "%.*s", (int)(to - from), from);
    return true;
}

bool dh_racy_element_of_finding(const struct dh_finding *f, struct dh_racy_element *out)
{
    unsigned least = UINT32_MAX;
    *out = (struct dh_racy_element){.offset = f->offset};
    for (size_t i = 0; i < f->accesses.n; i++)
        least = f->accesses.at[i].size < least ? f->accesses.at[i].size : least;
    if (!f->extent || f->extent <= least)
        return false;
    if (strncmp(f->object, "heap block", 10) == 0) {
        out->block = f->extent;
        return true;
    }
    return name_of(f->object, out->global, sizeof out->global);
}

/* ---- in a file ---- */

void dh_racy_elements_resolve(struct dh_racy_element *e, size_t n, const char *file)
{
    struct dh_symbolizer *s = NULL;
    for (size_t i = 0; i < n; i++) {
        uint64_t at, size;
        if (!e[i].global[0])
            continue;
        s = s ? s : dh_symbolizer_new();
        bool found = dh_symbolize_find_variable(s, file, e[i].global, &at, &size) && e[i].offset < size;
        e[i].address = found ? at + e[i].offset : 0;
    }
    if (s)
        dh_symbolizer_free(s);
}

uint32_t dh_racy_elements_export(const struct dh_racy_element *e, size_t n,
                                 struct dh_engine_element out[DH_ENGINE_ELEMENTS])
{
    uint32_t count = 0;
    for (size_t i = 0; i < n && count < DH_ENGINE_ELEMENTS; i++) {
        if (!e[i].global[0])
            out[count++] = (struct dh_engine_element){e[i].block, e[i].offset};
        else if (e[i].address)
            out[count++] = (struct dh_engine_element){0, e[i].address};
    }
    return count;
}

/* ---- by name ---- */

/* Indices in brackets; returns how many. */
static unsigned indices_in(const char *name, uint64_t out[DIMENSIONS])
{
    unsigned n = 0;
    for (const char *at = name; (at = strchr(at, '[')) && n < DIMENSIONS; at++)
        if (isdigit((unsigned char)at[1]))
            out[n++] = strtoull(at + 1, NULL, 10);
    return n;
}

char *dh_racy_element_array_name(const char *name)
{
    struct dh_str s = {0};
    for (const char *at = name; *at; at++) {
        dh_str_addf(&s, "%c", *at);
        if (*at == '[')
            at += strspn(at + 1, "0123456789");
    }
    return dh_str_take(&s);
}

/* The name of its last byte in the debug information has the highest index of each dimension. */
static bool in_global(const char *name, const char *file, struct dh_racy_element *out)
{
    uint64_t at, size, wanted[DIMENSIONS], last[DIMENSIONS], index = 0, all = 1;
    unsigned n = indices_in(name, wanted);
    struct dh_symbolizer *s = dh_symbolizer_new();
    struct dh_source_variable data = {0};
    size_t length = strcspn(name, "[");
    char *global = dh_format("%.*s", (int)length, name);
    bool ok = length < sizeof out->global && dh_symbolize_find_variable(s, file, global, &at, &size) &&
              dh_symbolize_variable_at(s, file, at + size - 1, &data) && indices_in(data.name, last) >= n;
    for (unsigned i = 0; ok && i < n; i++) {
        ok = wanted[i] <= last[i];
        index = index * (last[i] + 1) + wanted[i];
        all *= last[i] + 1;
    }
    if (ok) {
        snprintf(out->global, sizeof out->global, "%s", global);
        out->offset = size / all * index;
        out->address = at + out->offset;
    }
    dh_source_variable_release(&data);
    dh_symbolizer_free(s);
    free(global);
    return ok;
}

bool dh_racy_element_by_name(const char *name, const char *file, unsigned size, struct dh_racy_element *out)
{
    uint64_t numbers[DIMENSIONS];
    unsigned n = indices_in(name, numbers);
    *out = (struct dh_racy_element){0};
    if (!n)
        return false;
    if (!in_global(name, file, out)) {
        out->block = DH_ENGINE_ANY_BLOCK;
        out->offset = numbers[n - 1] * size;
    }
    return true;
}
