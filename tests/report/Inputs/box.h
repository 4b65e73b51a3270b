#include <pthread.h>

struct box {
    int letters[1000];
};

struct box *box_new(void);
int box_open(pthread_t *t, void *(*reader)(void *), struct box *b);
void box_free(struct box *b);
