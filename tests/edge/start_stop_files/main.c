#include "entry.h"
#include <stdio.h>
ENTRY(from_main, 1);
extern const struct entry __start_entries[], __stop_entries[];
int main(void)
{
    for (const struct entry *e = __start_entries; e < __stop_entries; e++)
        printf("%s %d\n", e->name, e->value);
    return 0;
}
