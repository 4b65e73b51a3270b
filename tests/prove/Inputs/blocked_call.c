/* The reader waits in poll for a byte that the writer writes only if it comes late enough. */
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

static int fds[2];
static int go;

static void *reader(void *u)
{
    (void)u;
    struct pollfd p = {.fd = fds[0], .events = POLLIN};
    poll(&p, 1, -1);
    return 0;
}

static void *writer(void *u)
{
    (void)u;
    if (__atomic_load_n(&go, __ATOMIC_SEQ_CST))
        if (write(fds[1], "x", 1) != 1)
            return u;
    return 0;
}

int main(void)
{
    pthread_t a, b;
    if (pipe(fds))
        return 1;
    pthread_create(&a, 0, reader, 0);
    pthread_create(&b, 0, writer, 0);
    __atomic_store_n(&go, 1, __ATOMIC_SEQ_CST);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
