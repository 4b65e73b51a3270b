// BROKEN: total
// Each thread works on a slice of a vector; sums are added under a lock.
#include "all.h"
template <typename F> static void parallel_for(size_t n, size_t n_threads, F body)
{
    std::vector<std::thread> threads;
    size_t step = (n + n_threads - 1) / n_threads;
    for (size_t first = 0; first < n; first += step)
        threads.emplace_back(body, first, first + step < n ? first + step : n);
    for (std::thread &t : threads)
        t.join();
}

int main()
{
    std::vector<double> values(1000);
    double total = 0;
    std::mutex m;
    parallel_for(values.size(), 4, [&](size_t first, size_t end) {
        for (size_t i = first; i < end; i++)
            values[i] = (double)i * 0.5;
    });
    parallel_for(values.size(), 4, [&](size_t first, size_t end) {
        double sum = 0;
        for (size_t i = first; i < end; i++)
            sum += values[i];
#ifndef BROKEN
        std::lock_guard<std::mutex> guard(m);
#endif
        total += sum;
    });
    printf("%f\n", total);
}
