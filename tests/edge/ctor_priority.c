// constructor(N) and destructor(N): order by priority, before main and after it, with atexit in between.
#include <stdio.h>
#include <stdlib.h>

static char log_text[64];
static int at;

__attribute__((constructor(65000))) static void late(void)
{
    log_text[at++] = 'c';
}
__attribute__((constructor(101))) static void first(void)
{
    log_text[at++] = 'a';
}
__attribute__((constructor)) static void plain(void)
{
    log_text[at++] = 'd';
}
__attribute__((constructor(200))) static void second(int argc, char **argv)
{
    log_text[at++] = argc == 1 && argv[1] == NULL ? 'b' : '?';
}
__attribute__((destructor(200))) static void last_but_one(void)
{
    printf("destructor 200\n");
}
__attribute__((destructor(101))) static void last(void)
{
    printf("destructor 101\n");
}
__attribute__((destructor)) static void plain_end(void)
{
    printf("destructor\n");
}
static void at_end(void)
{
    printf("atexit\n");
}

int main(void)
{
    atexit(at_end);
    printf("%s\n", log_text);
    return 0;
}
