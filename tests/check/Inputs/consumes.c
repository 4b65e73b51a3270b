/* Counts in two threads, into a file that may not be there yet, and removes its input: a second run in the same folder
 * ends with an error. The count is unprotected. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int total;

static void *counter(void *unused)
{
    (void)unused;
    total = total + 1;
    return NULL;
}

int main(int argc, char **argv)
{
    char name[300], text[20];
    snprintf(name, sizeof name, "%s.out", argc > 1 ? argv[1] : "");
    int in = argc > 1 ? open(argv[1], O_RDONLY) : -1, out = open(name, O_CREAT | O_EXCL | O_WRONLY, 0644);
    pthread_t counters[2];
    if (in < 0 || out < 0) {
        perror(in < 0 ? argv[1] : name);
        return 2;
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&counters[i], NULL, counter, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(counters[i], NULL);
    if (write(out, text, (size_t)snprintf(text, sizeof text, "%d\n", total)) < 0 || unlink(argv[1]) != 0)
        return 2;
    return total != 2;
}
