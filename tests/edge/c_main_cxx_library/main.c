#include <stdio.h>
#include <stdlib.h>
int lib_parse(const char *, char *, size_t);
int main(void)
{
    char message[40];
    const char *inputs[] = {"12", "x", "99999999999999999999"};
    for (int i = 0; i < 3; i++) {
        int r = lib_parse(inputs[i], message, sizeof message);
        printf("%d %s\n", r, message);
    }
    return 0;
}
