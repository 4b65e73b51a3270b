/* A thread closes standard input, output and errors, and opens others in their place. Hosted. */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static void *closes(void *p)
{
    for (int i = 0; i < 3; i++)
        close(i);
    for (int i = 0; i < 3; i++)
        if (open("/dev/null", O_RDWR) != i)
            return (void *)1;
    return write(1, "x", 1) == 1 && write(2, "x", 1) == 1 ? p : (void *)1;
}

int main(void)
{
    pthread_t t;
    void *result;
    pthread_create(&t, 0, closes, 0);
    pthread_join(t, &result);
    return result != 0;
}
