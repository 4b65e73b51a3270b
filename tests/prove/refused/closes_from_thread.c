/* A thread closes every descriptor from 3 on, by number and at once, as before an exec. Hosted. */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

static void *closes(void *p)
{
    int fd = dup(1);
    for (int i = 3; i < 1024; i++)
        close(i);
    closefrom(3);
    return write(fd, "x", 1) == -1 ? p : (void *)1;
}

int main(void)
{
    pthread_t t;
    void *result;
    pthread_create(&t, 0, closes, 0);
    pthread_join(t, &result);
    return result != 0;
}
