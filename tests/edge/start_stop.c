// A registry built by the linker: __start_/__stop_ of own sections, iterated; nothing else refers to the entries.
// GCC: differs
#include <stdio.h>

struct command {
    const char *name;
    int (*run)(int);
};
#define COMMAND(n)                                                                                                     \
    static int run_##n(int);                                                                                           \
    static const struct command entry_##n __attribute__((used, section("commands"))) = {#n, run_##n};                  \
    static int run_##n(int x)
COMMAND(twice)
{
    return x * 2;
}
COMMAND(square)
{
    return x * x;
}
COMMAND(minus)
{
    return -x;
}
static int numbers[3] __attribute__((used, section("counters"))) = {1, 2, 3};
static int one_more __attribute__((used, section("counters"))) = 4;

extern const struct command __start_commands[], __stop_commands[];
extern int __start_counters[], __stop_counters[];
extern char __start_nothing[] __attribute__((weak)), __stop_nothing[] __attribute__((weak));

int main(void)
{
    for (const struct command *c = __start_commands; c < __stop_commands; c++)
        printf("%s %d\n", c->name, c->run(7));
    int sum = 0;
    for (int *p = __start_counters; p < __stop_counters; p++)
        sum += (*p)++;
    printf("%td %d %d\n", __stop_counters - __start_counters, sum, one_more + numbers[2]);
    printf("%d\n", __start_nothing == __stop_nothing);
    return 0;
}
