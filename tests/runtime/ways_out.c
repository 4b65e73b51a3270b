/* Leaves in the way that the first argument names. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *routine(void *arg)
{
    exit(arg ? 25 : 26);
}

int main(int argc, char **argv)
{
    pthread_t t;
    switch (argc > 1 ? argv[1][0] : 0) {
    case 'e':
        exit(21);
    case '_':
        _exit(22);
    case 'E':
        _Exit(23);
    case 'q':
        quick_exit(24);
    case 't':
        pthread_create(&t, NULL, routine, &t);
        pause();
    case 'a':
        abort();
    }
    return 20;
}
