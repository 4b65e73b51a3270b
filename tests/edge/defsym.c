// --defsym: names that exist only on the linker's command line, one an absolute number, one another name.
// FLAGS: -no-pie -Wl,--defsym=absolute_number=0x1234 -Wl,--defsym=second_name=first_name
#include <stdio.h>

extern char absolute_number[];
int first_name(int x)
{
    return x + 100;
}
int second_name(int x);

int main(void)
{
    printf("%lx %d %d\n", (unsigned long)absolute_number, second_name(5), second_name == first_name);
    return 0;
}
