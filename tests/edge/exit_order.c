// atexit handlers in reverse, one registering another, then destructors, then streams flushed; exit from a handler.
// EXIT: 37
#include <stdio.h>
#include <stdlib.h>

static void extra(void)
{
    printf("registered during exit\n");
}
static void first(void)
{
    printf("first registered, last run\n");
}
static void second(void)
{
    printf("second\n");
    atexit(extra);
}
__attribute__((destructor)) static void end(void)
{
    printf("destructor, unflushed");
}
static void with_status(int status, void *arg)
{
    printf("on_exit %d %s\n", status, (char *)arg);
}
int on_exit(void (*)(int, void *), void *);

int main(void)
{
    atexit(first);
    on_exit(with_status, "arg");
    atexit(second);
    exit(37);
}
