/* A program that does nothing but keep its output and exit code. */
#include <stdio.h>

int main(void)
{
    puts("plain output");
    return 7;
}
