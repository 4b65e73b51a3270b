/* What becomes part of another file's function when the program is linked. */
#include "box.h"

#include <stdlib.h>

struct box *box_new(void)
{
    return calloc(1, sizeof(struct box));
}

int box_open(pthread_t *t, void *(*reader)(void *), struct box *b)
{
    return pthread_create(t, NULL, reader, b);
}

void box_free(struct box *b)
{
    free(b);
}
