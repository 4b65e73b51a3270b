// Reads standard input and gives its size as exit status; output is flushed by exit alone.
// STDIN: some words on standard input
// EXIT: 28
#include <ctype.h>
#include <stdio.h>

int main(void)
{
    int c, n = 0;
    while ((c = getchar()) != EOF) {
        putchar(toupper(c));
        n++;
    }
    fprintf(stderr, "%d bytes", n);
    return n;
}
