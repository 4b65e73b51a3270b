#include <stdio.h>
int host_service(int);
extern int host_data;
static __thread int calls;
static int *memory;
static int block[3];
__attribute__((constructor)) static void load(void)
{
    memory = block;
    printf("plugin loaded\n");
}
__attribute__((destructor)) static void unload(void)
{
    printf("plugin unloaded after %d\n", *memory);
}
int plugin_run(int x)
{
    host_data++;
    *memory += ++calls;
    return host_service(x) + *memory;
}
