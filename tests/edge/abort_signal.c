// Death by abort stays a death by SIGABRT, after a handler that returns has had its turn.
// SIGNAL: ABRT
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void handler(int sig)
{
    printf("handler %d\n", sig);
    fflush(stdout);
}

int main(void)
{
    signal(SIGABRT, handler);
    abort();
}
