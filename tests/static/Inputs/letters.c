/* Two threads ask the C library for the kind of letters, which it finds in a table of its own making. -DBROKEN: they
 * count in a variable of the program, too. */
#include <ctype.h>
#include <pthread.h>

static long counted;

static void *count(void *text)
{
    long spaces = 0;
    for (const char *c = text; *c; c++)
        spaces += isspace((unsigned char)*c) != 0;
#ifdef BROKEN
    counted += spaces;
#endif
    return (void *)(spaces + counted);
}

int main(int argc, char **argv)
{
    pthread_t a, b;
    (void)argc;
    pthread_create(&a, NULL, count, argv[0]);
    pthread_create(&b, NULL, count, "one two");
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
