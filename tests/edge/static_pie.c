// -static-pie: one clear refusal.
// FLAGS: -static-pie -fPIE
// REFUSED: -static
#include <stdio.h>

int main(void)
{
    puts("static pie");
    return 0;
}
