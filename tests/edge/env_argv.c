// Arguments with spaces, empty ones and odd bytes; environment read, changed, listed.
// ARGS: one 'two words' '' 'tab	x' --dash -- '*' ünïcode
// ENV: EDGE_A=value EDGE_EMPTY=
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

int main(int argc, char **argv, char **envp)
{
    for (int i = 1; i < argc; i++)
        printf("%d [%s]\n", i, argv[i]);
    printf("%s, %d, %d\n", getenv("EDGE_A"), getenv("EDGE_EMPTY")[0] == 0, getenv("EDGE_NONE") == NULL);
    int seen = 0;
    for (char **e = envp; *e; e++)
        seen += strncmp(*e, "EDGE_", 5) == 0;
    setenv("EDGE_B", "new", 1);
    unsetenv("EDGE_A");
    printf("%d %s %d\n", seen, getenv("EDGE_B"), getenv("EDGE_A") == NULL);
    int leaked = 0; /* nothing of a tool's own may show in a program's environment by the name of a loader variable */
    for (char **e = environ; *e; e++)
        leaked += strncmp(*e, "LD_PRELOAD=", 11) == 0;
    printf("%d %d %s\n", leaked, argv[argc] == NULL, strrchr(argv[0], '/') + 1);
    return 0;
}
