/* What a function keeps to itself is left alone, also where a pointer walks through it or a library function works on it;
 * a buffer that somebody else has the address of is looked at on the same ways. The argument says which of the
 * program's races happens; `none`: only what is private is used. */
#include "order.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
enum { ROOM = 96 };
static char *shown; /* a local buffer that the other thread is given */
static char common[ROOM] = "common";
static int mode;
static char *put(char *to, const char *text)
{
    while (*text)
        *to++ = *text++;
    return to;
}
static __attribute__((noinline)) size_t walk(int much)
{
    char own[ROOM], other[ROOM];
    char *to = put(put(own, much ? "get " : "set "), "user:");
    *to = '\0';
    memset(other, 0, sizeof other);
    memcpy(other, own, (size_t)(to - own));
    return strcspn(own, ":") + strlen(other) + (size_t)memcmp(own, other, (size_t)(to - own) + 1);
}
static size_t walk_of_either(int much) /* one of the two is the other thread's, too */
{
    char own[ROOM] = "own";
    char *to = put(much ? own : common, "abc");
    *to = '\0';
    return (size_t)(to - (much ? own : common));
}
static size_t length_of_shown(void)
{
    char own[ROOM] = "length";
    shown = own;
    step_done(0);
    wait_step(1);
    size_t n = strlen(own);
    shown = NULL;
    return n;
}
static size_t length_of_either(int much)
{
    char own[ROOM] = "length";
    return strlen(much ? own : common);
}
static void *other_thread(void *arg)
{
    wait_step(0);
    if (mode == 's')
        shown[2] = 'N';
    else if (mode != 'n')
        common[1] = 'C';
    step_done(1);
    return arg;
}
int main(int argc, char **argv)
{
    pthread_t t;
    mode = argv[argc - 1][0];
    pthread_create(&t, NULL, other_thread, NULL);
    size_t n = walk(argc > 1);
    if (mode == 's') {
        n += length_of_shown();
    } else {
        step_done(0);
        wait_step(1);
        if (mode == 'w')
            n += walk_of_either(argc > 2);
        if (mode == 'e')
            n += length_of_either(argc > 2);
    }
    pthread_join(t, NULL);
    printf("%zu\n", n);
    return 0;
}
