// The C++ library's ways to order. Broken: the reader uses another object, or does not ask for the result.
#include "pair.h"

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <new>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static void nothing(int)
{
}

// ---- locks ----

template <class Mutex> static void locked(int o)
{
    static Mutex *const m = new Mutex[2];
    std::lock_guard lock(m[o]);
    guarded++;
}
template <class Mutex> static void tried(int o)
{
    static Mutex *const m = new Mutex[2];
    CHECK(m[o].try_lock());
    guarded++;
    m[o].unlock();
}
template <class Mutex> static void timed(int o)
{
    static Mutex *const m = new Mutex[2];
    std::unique_lock lock(m[o], std::defer_lock);
    CHECK(o ? lock.try_lock_for(50s) : lock.try_lock_until(std::chrono::system_clock::now() + 50s));
    guarded++;
}
static std::shared_timed_mutex shared_m[2];
static void written(int o)
{
    std::unique_lock lock(shared_m[o]);
    guarded++;
}
static void read_shared(int o)
{
    std::shared_lock lock(shared_m[o], 50s);
    CHECK(lock && guarded == 1);
}
static std::mutex scoped_m[2][2];
static void scoped(int o)
{
    std::scoped_lock lock(scoped_m[o][0], scoped_m[o][1]);
    guarded++;
}

// ---- conditions: the reader waits first; broken: the writer takes no lock (and as condition_variable_any has one of
// its own, the reader does not wait) ----

static std::mutex m;
template <class Condition> static Condition condition;
template <class Condition> static void write_and_notify(int)
{
    invisible_await(STEP);
    if (!broken)
        m.lock();
    guarded++;
    invisible_say(STEP2);
    if (!broken)
        m.unlock();
    while (!invisible_said(STEP3))
        condition<Condition>.notify_all();
}
template <class Condition, bool by_time> static void wait_for_it(int)
{
    std::unique_lock lock(m);
    invisible_say(STEP);
    auto done = [] { return invisible_said(STEP2) != 0; };
    if (broken && std::is_same_v<Condition, std::condition_variable_any>)
        invisible_await(STEP2);
    else if constexpr (by_time)
        CHECK(condition<Condition>.wait_for(lock, 50s, done));
    else
        condition<Condition>.wait(lock, done);
    guarded++;
    invisible_say(STEP3);
}

// ---- threads ----

static void joined_thread(int o)
{
    std::thread t([] {
        guarded++;
        invisible_say(STEP);
    });
    invisible_await(STEP);
    if (!o)
        t.join();
    guarded++;
    if (o)
        t.join();
}
static void joining_thread(int o)
{
    {
        std::jthread t([](std::stop_token stop) {
            guarded++;
            invisible_say(STEP);
            while (!stop.stop_requested())
                std::this_thread::yield();
        });
        invisible_await(STEP);
        if (o)
            guarded++;
    }
    if (!o)
        guarded++;
}
// What was done before the request is seen by who sees the request.
static std::stop_source stop[2];
static void request_stop(int o)
{
    guarded++;
    stop[o].request_stop();
}
static void see_stop(int o)
{
    if (o)
        stop[1].request_stop();
    while (!stop[o].get_token().stop_requested())
        ;
    guarded++;
}

// ---- results ----

static std::promise<int> promise[2];
static void keep_promise(int o)
{
    guarded++;
    promise[o].set_value(1);
}
static void get_future(int o)
{
    if (o)
        promise[1].set_value(1);
    CHECK(promise[o].get_future().get() == 1);
    guarded++;
}
static void async_result(int o)
{
    auto f = std::async(std::launch::async, [] {
        guarded++;
        invisible_say(STEP);
        return 1;
    });
    invisible_await(STEP);
    if (!o)
        CHECK(f.get() == 1);
    guarded++;
}
static void packaged(int o)
{
    std::packaged_task<int()> task([] {
        guarded++;
        invisible_say(STEP);
        return 1;
    });
    auto f = task.get_future();
    std::thread t(std::move(task));
    invisible_await(STEP);
    if (!o)
        f.wait();
    guarded++;
    t.join();
}

// ---- once ----

static std::once_flag once[2];
static void first_time(int o)
{
    std::call_once(once[o], [] {
        if (!invisible_said(STEP)) {
            invisible_say(STEP);
            guarded++;
        }
    });
}
static void after_first_time(int o)
{
    first_time(o);
    guarded++;
}
// The first attempt throws: the flag stays.
static void attempt(int o)
{
    try {
        std::call_once(once[o], [] { throw 1; });
        CHECK(o == 1);
    } catch (int) {
    }
    first_time(o);
}
// What an attempt that threw did comes before the next one.
static void try_in_vain(int o)
{
    try {
        std::call_once(once[o], [] {
            guarded++;
            throw 1;
        });
    } catch (int) {
    }
}

struct made {
    made()
    {
        if (invisible_said(STEP))
            return;
        invisible_say(STEP);
        guarded++;
    }
};
template <int which> static void make_static()
{
    static made object;
    __asm__ volatile("" ::"r"(&object) : "memory");
}
static void in_static(int o)
{
    o ? make_static<1>() : make_static<0>();
}
static void after_static(int o)
{
    in_static(o);
    guarded++;
}
// The reader waits while the object is made.
struct slow {
    slow()
    {
        invisible_say(STEP);
        for (int i = 0; i < 30000000 && !invisible_said(STEP2); i++)
            ;
        std::this_thread::sleep_for(20ms);
        guarded++;
    }
};
static void in_slow_static(int)
{
    static slow object;
    __asm__ volatile("" ::"r"(&object) : "memory");
}
static void after_slow_static(int o)
{
    invisible_await(STEP);
    invisible_say(STEP2);
    if (!o)
        in_slow_static(o);
    guarded++;
}

// ---- meeting points ----

static std::latch latch[2] = {std::latch(1), std::latch(0)};
static void count_down(int o)
{
    guarded++;
    latch[o].count_down();
}
static void after_latch(int o)
{
    latch[o].wait();
    guarded++;
}
static std::barrier meeting(2);
static void arrive(int)
{
    if (broken)
        meeting.arrive_and_wait();
    guarded++;
    if (!broken)
        meeting.arrive_and_wait();
}
static void depart(int)
{
    meeting.arrive_and_wait();
    guarded++;
}
static std::counting_semaphore<> semaphore[2] = {std::counting_semaphore<>(0), std::counting_semaphore<>(1)};
static void release(int o)
{
    guarded++;
    semaphore[o].release();
}
static void acquire(int o)
{
    semaphore[o].acquire();
    guarded++;
}
static void acquire_timed(int o)
{
    CHECK(semaphore[o].try_acquire_for(50s));
    guarded++;
}

// ---- atomics ----

static std::atomic<int> flag[2] = {0, 1};
static void notify(int o)
{
    guarded++;
    flag[o].store(1, std::memory_order_release);
    flag[o].notify_all();
}
static void wait_for_flag(int o)
{
    flag[o].wait(0, std::memory_order_acquire);
    guarded++;
}
// Far enough apart for the library, which keeps its waiters by the word.
struct alignas(int) flag_word {
    std::atomic_flag flag;
};
static flag_word test[2];
static void set_flag(int o)
{
    guarded++;
    test[o].flag.test_and_set();
    test[o].flag.notify_one();
}
static void wait_for_test(int o)
{
    if (o)
        test[1].flag.test_and_set();
    test[o].flag.wait(false);
    guarded++;
}
// The last owner destroys, after all the others; broken: it does not wait to be the last.
struct counted {
    ~counted()
    {
        guarded++;
    }
};
static std::shared_ptr<counted> owners[2];
static void own_together()
{
    owners[0] = owners[1] = std::make_shared<counted>();
}
static void let_go(int)
{
    guarded++;
    owners[0].reset();
}
static void let_go_last(int o)
{
    if (o)
        guarded++;
    owners[1].reset();
}

// ---- memory: a block that comes again has no past ----

struct block {
    int guarded[300];
};
static block *last;
static block *last_one()
{
    block *b;
    __asm__("mov %1, %0" : "=r"(b) : "m"(last));
    return b;
}
static void use(block *b)
{
    for (int i = 0; i < 300; i++)
        b->guarded[i]++;
}
struct alignas(64) aligned : block {
};
template <class Type> static void make_and_delete(int)
{
    auto *b = new Type();
    last = b;
    use(b);
    if (!broken)
        delete b;
}
template <class Type> static void make_again(int o)
{
    if (o) {
        use(last_one());
        return;
    }
    std::vector<std::unique_ptr<Type>> kept;
    do {
        kept.push_back(std::make_unique<Type>());
        use(kept.back().get());
    } while (kept.back().get() != last_one() && kept.size() < 500);
}
static void make_array(int)
{
    auto *b = new block[1]();
    last = b;
    use(b);
    if (!broken)
        delete[] b;
}

template <class Mutex> constexpr pair lock_pair(const char *name)
{
    return {name, nullptr, locked<Mutex>, locked<Mutex>, 0};
}
using cv = std::condition_variable;
using cv_any = std::condition_variable_any;

static const struct pair pairs[] = {
    lock_pair<std::mutex>("mutex"),
    lock_pair<std::recursive_mutex>("recursive_mutex"),
    lock_pair<std::timed_mutex>("timed_mutex"),
    lock_pair<std::shared_mutex>("shared_mutex"),
    {"mutex-try", nullptr, tried<std::mutex>, tried<std::mutex>, 0},
    {"mutex-timed", nullptr, timed<std::timed_mutex>, timed<std::timed_mutex>, 0},
    {"recursive-timed", nullptr, timed<std::recursive_timed_mutex>, timed<std::recursive_timed_mutex>, 0},
    {"shared-timed", nullptr, written, read_shared, 0},
    {"scoped_lock", nullptr, scoped, scoped, 0},
    {"condition_variable", nullptr, write_and_notify<cv>, wait_for_it<cv, false>, TOGETHER},
    {"condition_variable-timed", nullptr, write_and_notify<cv>, wait_for_it<cv, true>, TOGETHER},
    {"condition_variable_any", nullptr, write_and_notify<cv_any>, wait_for_it<cv_any, false>, TOGETHER},
    {"condition_variable_any-timed", nullptr, write_and_notify<cv_any>, wait_for_it<cv_any, true>, TOGETHER},
    {"thread", nullptr, nothing, joined_thread, 0},
    {"jthread", nullptr, nothing, joining_thread, 0},
    {"stop_token", nullptr, request_stop, see_stop, TOGETHER},
    {"promise", nullptr, keep_promise, get_future, TOGETHER},
    {"async", nullptr, nothing, async_result, 0},
    {"packaged_task", nullptr, nothing, packaged, 0},
    {"call_once", nullptr, first_time, after_first_time, 0},
    {"call_once-thrown", nullptr, attempt, after_first_time, 0},
    {"call_once-again", nullptr, try_in_vain, try_in_vain, 0},
    {"static", nullptr, in_static, after_static, 0},
    {"static-waiting", nullptr, in_slow_static, after_slow_static, TOGETHER},
    {"latch", nullptr, count_down, after_latch, TOGETHER},
    {"barrier", nullptr, arrive, depart, TOGETHER},
    {"semaphore", nullptr, release, acquire, TOGETHER},
    {"semaphore-timed", nullptr, release, acquire_timed, TOGETHER},
    {"atomic-wait", nullptr, notify, wait_for_flag, TOGETHER},
    {"atomic_flag-wait", nullptr, set_flag, wait_for_test, TOGETHER},
    {"shared_ptr", own_together, let_go, let_go_last, 0},
    {"new", nullptr, make_and_delete<block>, make_again<block>, 0},
    {"new-aligned", nullptr, make_and_delete<aligned>, make_again<aligned>, 0},
    {"new-array", nullptr, make_array, make_again<block>, 0},
};
PAIRS_MAIN(pairs)
