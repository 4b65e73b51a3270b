// Parallel sums and task groups of two threads, each with its own arena, on two workers, which are waited for in the
// end.
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_group.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <thread>

static std::atomic<int> ran{0};

static int sum_up()
{
    return tbb::parallel_reduce(
        tbb::blocked_range<int>(0, 8), 0,
        [](const tbb::blocked_range<int> &r, int so_far) {
            for (int i = r.begin(); i != r.end(); i++)
                so_far += i;
            return so_far;
        },
        std::plus<int>());
}

static void use(int *sum)
{
    tbb::task_group group;
    for (int i = 0; i < 3; i++)
        group.run([&] { ran++; });
    *sum = sum_up();
    group.wait();
}

int main()
{
    tbb::task_scheduler_handle pool{tbb::attach{}};
    int sums[2];
    {
        tbb::global_control three(tbb::global_control::max_allowed_parallelism, 3);
        std::thread other(use, &sums[1]);
        use(&sums[0]);
        other.join();
    }
    bool ended = tbb::finalize(pool, std::nothrow);
    std::printf("%d %d %d %s\n", sums[0], sums[1], ran.load(), ended ? "ended" : "left");
    return sums[0] == 28 && sums[1] == 28 && ran == 6 && ended ? 0 : 1;
}
