/* A program without threads is not explored, and runs as ever.
 * drive: --schedules=300
 * expect: ^hello$
 * expect: state: no threads */
#include <stdio.h>

int main(void)
{
    puts("hello");
}
