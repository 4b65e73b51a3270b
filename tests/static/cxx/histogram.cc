// BROKEN: Histogram.bins
// Each thread counts its part of a text into a vector of its own and adds that up under a lock.
#include "all.h"
class Histogram
{
    std::vector<long> bins;
    mutable std::mutex m;

  public:
    explicit Histogram(size_t n) : bins(n)
    {
    }
    void merge(const std::vector<long> &o)
    {
#ifndef BROKEN
        std::lock_guard<std::mutex> g(m);
#endif
        for (size_t i = 0; i < bins.size(); ++i)
            bins[i] += o[i];
    }
    long total() const
    {
        std::lock_guard<std::mutex> g(m);
        long t = 0;
        for (long b : bins)
            t += b;
        return t;
    }
};
static void count(const std::string &text, size_t from, size_t to, Histogram &h)
{
    std::vector<long> mine(26);
    for (size_t i = from; i < to; ++i)
        if (text[i] >= 'a' && text[i] <= 'z')
            mine[(size_t)(text[i] - 'a')]++;
    h.merge(mine);
}
int main()
{
    std::string text;
    for (int i = 0; i < 1000; i++)
        text += (char)('a' + i % 26);
    Histogram h(26);
    std::vector<std::thread> ts;
    size_t n = 4, step = text.size() / n;
    for (size_t i = 0; i < n; ++i)
        ts.emplace_back(count, std::cref(text), i * step, (i + 1) * step, std::ref(h));
    for (auto &t : ts)
        t.join();
    printf("%ld\n", h.total());
}
