/* The writer changes what main copies from, and what it copies to: each race is on the side that it happens to. */
#include "order.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct large {
    int values[16];
};
struct small {
    int x, y;
};

static struct large large_from, large_to, target, other;
static struct small small_from, small_to;
static char text[64] = "hello", text_copy[64], words[64] = "one two", words_copy[64];

static void *writer(void *arg)
{
    large_from.values[3] = 7;
    target.values[2] = 4;
    small_from.y = 1;
    text[2] = 'x';
    words[1] = 'y';
    step_done(0);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, writer, NULL);
    wait_step(0);
    large_to = large_from;
    memcpy(&target, &other, sizeof target);
    small_to = small_from;
    memmove(text_copy, text, sizeof text_copy);
    strcpy(words_copy, words);
    pthread_join(t, NULL);
    printf("%d %d %d %s %s\n", large_to.values[3], target.values[2], small_to.y, text_copy, words_copy);
    return 0;
}
