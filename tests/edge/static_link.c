// -static: one clear refusal.
// FLAGS: -static
// REFUSED: -static
#include <stdio.h>

int main(void)
{
    puts("static");
    return 0;
}
