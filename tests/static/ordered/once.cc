// Made once by who comes first. BROKEN 1: not by call_once.
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>
struct Table {
    int size = 0;
    std::vector<int> values;
};
static Table *table;
static std::once_flag made;

static void make()
{
    table = new Table;
    table->size = 16;
    table->values.resize(16);
}

static int lookup(int i)
{
#if BROKEN == 1
    if (!table)
        make();
#else
    std::call_once(made, make);
#endif
    return table->values[i % table->size];
}

int main()
{
    int a = 0, b = 0;
    std::thread one([&a] { a = lookup(1); }), other([&b] { b = lookup(2); });
    one.join();
    other.join();
    std::printf("%d\n", a + b);
}
