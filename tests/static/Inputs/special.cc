/* Members of a class, on objects of one thread and on one of all; what they throw is caught in all contexts. */
#include <cstdio>
#include <string>
#include <thread>

namespace {

struct Tally {
    long n = 0, most = 0;
    long item[16] = {};

    __attribute__((noinline)) void add(long x)
    {
        if (x < 0)
            throw 1;
        item[n & 15] = x;
        n++;
        most = x > most ? x : most;
    }
    __attribute__((noinline)) long fill(long from, long to)
    {
        std::string name = "tally";
        long bad = 0;
        for (long i = from; i < to; i++) {
            try {
                add(i);
            } catch (...) {
                bad++;
            }
        }
        return bad + static_cast<long>(name.size());
    }
};

Tally all;

void work()
{
    Tally *mine = new Tally;
    long bad = mine->fill(-3, 100);
    bad += all.fill(-2, 3);
    std::printf("%ld %ld\n", bad, mine->most);
}

} // namespace

int main()
{
    std::printf("%ld\n", all.fill(-5, 10));
    std::thread one(work), two(work);
    one.join();
    two.join();
    return 0;
}
