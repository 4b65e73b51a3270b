/* Restoring costs what was changed: of 200 MB a schedule changes a few pages, or 20 MB if one thread comes first, and
 * all are as they were in the next.
 * drive: --schedules=200 --strategy=random
 * expect: ends: done 200$ */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ALL = 200 << 20, PART = 20 << 20, PAGE = 4096 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static char *all;
static int came;

static void *changes(void *a)
{
    int me = *(int *)a;
    pthread_mutex_lock(&m);
    if (all[0] != 1 + came || all[me * PAGE * 100] != 1 + (me == 0 ? came : 0))
        abort();
    all[0]++;
    if (me == 1 && came == 0)
        memset(all + PART, 2, PART);
    else if (all[PART] != (me == 0 && came ? 2 : 1) || all[2 * PART - 1] != all[PART])
        abort();
    came++;
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void)
{
    static int who[2] = {0, 1};
    pthread_t t[2];
    all = malloc(ALL);
    if (!all)
        return 0;
    memset(all, 1, ALL);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, changes, &who[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    free(all);
    return 0;
}
