/* Section files: any bytes are read or refused, and what was read prints to what reads the same. */
#include "event/sections.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 20 };
static char room[ROOM];
static size_t used;

static void *allocate(size_t n)
{
    n = (n + 15) & ~(size_t)15;
    if (n > ROOM - used)
        return NULL;
    used += n;
    return room + used - n;
}

static char printed[2][1 << 17];
static size_t n_printed;

static void put(void *arg, const char *text, size_t n)
{
    char *to = arg;
    if (n_printed + n >= sizeof printed[0])
        return;
    memcpy(to + n_printed, text, n);
    n_printed += n;
    to[n_printed] = 0;
}

static size_t print(const struct dh_sections *s, char *to)
{
    n_printed = 0;
    to[0] = 0;
    dh_sections_print(s, put, to);
    return n_printed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dh_sections s, again;
    struct dh_sections_error e;
    used = 0;
    if (size > 4096 || !dh_sections_read(&s, (const char *)data, size, allocate, &e))
        return 0;
    size_t n = print(&s, printed[0]);
    if (!dh_sections_read(&again, printed[0], n, allocate, &e))
        abort();
    print(&again, printed[1]);
    if (strcmp(printed[0], printed[1]) != 0)
        abort();
    return 0;
}
