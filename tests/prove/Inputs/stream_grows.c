/* The buffer of a memory stream is read while another thread writes to the stream, which moves it: libc frees the old
 * one. The program's first site is a creation of a thread. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void *growing(void *stream);

pthread_t begin(FILE *stream)
{
    pthread_t t;
    pthread_create(&t, NULL, growing, stream);
    return t;
}

static void *growing(void *stream)
{
    static char much[20000];
    memset(much, 'x', sizeof much - 1);
    fputs(much, stream);
    fflush(stream);
    return NULL;
}

int main(void)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fputs("one", stream);
    fflush(stream);
    const char *kept = text;
    pthread_t t = begin(stream);
    char first = kept[0];
    pthread_join(t, NULL);
    fclose(stream);
    return first != 'o' && first != 'x';
}
