// _FORTIFY_SOURCE=2: checked string functions work, and an overflow is stopped by SIGABRT.
// FLAGS: -D_FORTIFY_SOURCE=2 -Wno-fortify-source
// LEVELS: -O2
// SIGNAL: ABRT
#include <stdio.h>
#include <string.h>

struct named {
    char name[8];
    int n;
};

int main(int argc, char **argv)
{
    (void)argv;
    struct named v = {"", 3};
    strcpy(v.name, "short");
    printf("%s %d\n", v.name, v.n);
    fflush(stdout);
    memset(v.name, 'x', (size_t)argc * 13);
    printf("%d\n", v.n);
    return 0;
}
