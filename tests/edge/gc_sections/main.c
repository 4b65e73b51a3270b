#include <stdio.h>
int live(int);
extern int kept[];
int main(void)
{
    printf("%d %d\n", live(4), kept[1]);
    return 0;
}
