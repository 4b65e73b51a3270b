#include "ir/known_functions.h"

#include "event/site.h"

#include <stdlib.h>
#include <string.h>

static const struct dh_known_function functions[] = {
#include "ir/known_functions.inc"
};

static int compare(const void *name, const void *row)
{
    return strcmp(name, ((const struct dh_known_function *)row)->name);
}

const struct dh_known_function *dh_known_function(const char *name)
{
    return bsearch(name, functions, sizeof functions / sizeof *functions, sizeof *functions, compare);
}
