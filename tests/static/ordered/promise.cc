// A promise kept by a thread. BROKEN 1: the report is written after the promise was kept.
#include <cstdio>
#include <future>
#include <string>
#include <thread>
struct Report {
    int pages = 0;
    double price = 0;
};
static Report report;

static void author(std::promise<int> done)
{
#if BROKEN == 1
    done.set_value(1);
    report.pages = 12;
    report.price = 3.5;
#else
    report.pages = 12;
    report.price = 3.5;
    done.set_value(1);
#endif
}

int main()
{
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread t(author, std::move(promise));
    int n = future.get();
    std::printf("%d %d %f\n", n, report.pages, report.price);
    t.join();
}
