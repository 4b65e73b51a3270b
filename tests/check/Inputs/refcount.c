/* Reference counted buffer: release() decrements atomically but reads the count again to decide (double free or leak).
 * FIXED uses the value that the decrement returns. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct buffer {
    atomic_int refs;
    size_t n;
    char text[16];
};
static atomic_int freed;

static void release(struct buffer *b)
{
#ifdef FIXED
    if (atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) == 1) {
#else
    atomic_fetch_sub(&b->refs, 1);
    if (atomic_load(&b->refs) == 0) {
#endif
        freed++;
        free(b);
    }
}

static void *reader(void *arg)
{
    struct buffer *b = arg;
    size_t n = strlen(b->text);
    if (n != b->n)
        abort();
    release(b);
    return NULL;
}

int main(void)
{
    for (int round = 0; round < 3; round++) {
        pthread_t t[2];
        struct buffer *b = malloc(sizeof *b);
        atomic_init(&b->refs, 3);
        strcpy(b->text, "shared");
        b->n = 6;
        for (int i = 0; i < 2; i++)
            pthread_create(&t[i], NULL, reader, b);
        release(b);
        for (int i = 0; i < 2; i++)
            pthread_join(t[i], NULL);
    }
    printf("freed %d\n", freed);
    return freed != 3;
}
