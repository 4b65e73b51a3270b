// BROKEN: Counter.value
// One thread for each element, through iterators and closures of closures.
#include "all.h"
class Counter
{
    mutable std::mutex m;
    long value = 0;

  public:
    void add(long n)
    {
        std::lock_guard<std::mutex> g(m);
        value += n;
    }
    long get() const
    {
#ifndef BROKEN
        std::lock_guard<std::mutex> g(m);
#endif
        return value;
    }
};
template <class It, class F> void for_each_parallel(It b, It e, F f)
{
    std::vector<std::thread> ts;
    for (It i = b; i != e; ++i)
        ts.emplace_back([&f, i] { f(*i); });
    for (auto &t : ts)
        t.join();
}
int main()
{
    std::vector<std::string> files = {"a", "bb", "ccc"};
    Counter c;
    std::mutex em;
    std::vector<std::string> errors;
    for_each_parallel(files.begin(), files.end(), [&](const std::string &f) {
        if (f.empty()) {
            std::lock_guard<std::mutex> g(em);
            errors.push_back("empty");
        }
        c.add((long)f.size());
        if (c.get() > 100)
            puts("many");
    });
    printf("%ld %zu\n", c.get(), errors.size());
}
