/* How often a check is made of what is looked at again on the way: through the function's object, and through others.
 * Every thread gets at everything, so that all of it must be watched. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct box {
    int limit, used;
};

static struct box *boxes[2];
static int *others[2];

/* Whether `out` is the box itself nobody can tell, so the limit is read anew behind every write. */
__attribute__((noinline)) static int of_object(struct box *b, int k, int *out)
{
    int sum = b->limit;
    if (k & 1) {
        *out = k;
        sum += b->limit * 3;
    } else if (k & 4) {
        out[1] = k;
        puts("a call");
        sum ^= b->limit;
    }
    out[k & 1] = sum;
    return sum + b->limit;
}

__attribute__((noinline)) static int of_others(int k, struct box *b, int *out)
{
    int sum = *out;
    if (k & 1) {
        b->used = k;
        sum += *out * 3;
    }
    return sum;
}

/* Of three looks in straight code the one in the middle shows nothing that the last does not. */
__attribute__((noinline)) static int thrice(struct box *b, int *out)
{
    int first = b->limit;
    out[0] = 1;
    int second = b->limit;
    out[1] = 2;
    return first + second + b->limit;
}

static void *work(void *number)
{
    long n = (long)number;
    int sum = of_object(boxes[n], (int)n, others[!n]);
    boxes[n]->limit = sum;
    others[n][0] = of_others((int)n, boxes[!n], others[n]);
    boxes[n]->used = thrice(boxes[n], others[!n]);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t[2];
    (void)argv;
    for (int i = 0; i < 2; i++)
        boxes[i] = calloc(2, sizeof *boxes[i]);
    for (int i = 0; i < 2; i++)
        others[i] = argc > 1 ? &boxes[i]->limit : calloc(2, sizeof *others[i]);
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("%d\n", boxes[0]->limit);
    return 0;
}
