/* Says what it was called with and what its children would see. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

int main(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        printf("[%s]", argv[i]);
    puts("");
    for (char **e = environ; *e; e++)
        if (!strncmp(*e, "LD_LIBRARY_PATH", 15) || !strncmp(*e, "DEADHEAT_RESTORE", 16))
            puts(*e);
    return 0;
}
