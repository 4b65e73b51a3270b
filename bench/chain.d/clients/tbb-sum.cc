// A parallel sum and a task group on two workers.
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_group.h>

#include <atomic>
#include <cstdio>
#include <functional>

int main()
{
    tbb::global_control two(tbb::global_control::max_allowed_parallelism, 2);
    int sum = tbb::parallel_reduce(
        tbb::blocked_range<int>(0, 8), 0,
        [](const tbb::blocked_range<int> &r, int so_far) {
            for (int i = r.begin(); i != r.end(); i++)
                so_far += i;
            return so_far;
        },
        std::plus<int>());
    std::atomic<int> ran{0};
    tbb::task_group group;
    for (int i = 0; i < 3; i++)
        group.run([&] { ran++; });
    group.wait();
    std::printf("%d %d\n", sum, ran.load());
    return sum == 28 && ran == 3 ? 0 : 1;
}
