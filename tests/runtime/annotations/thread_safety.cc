// clang's thread safety attributes as C++ programs use them: a mutex in a wrapper, members of a base, constructors and
// destructors that need no lock, a lock made of atomics of which nothing is known.
#include "case.h"

#include <atomic>
#include <mutex>

#include <deadheat/annotate_abi.h>

#define CAPABILITY(x) __attribute__((capability(x)))
#define GUARDED_BY(x) __attribute__((guarded_by(x)))
#define PT_GUARDED_BY(x) __attribute__((pt_guarded_by(x)))
#define ACQUIRE(...) __attribute__((acquire_capability(__VA_ARGS__)))
#define RELEASE(...) __attribute__((release_capability(__VA_ARGS__)))
#define REQUIRES(...) __attribute__((requires_capability(__VA_ARGS__)))
#define UNANALYSED __attribute__((no_thread_safety_analysis))

class CAPABILITY("mutex") Mutex {
    int name_ = 0;
    std::mutex mutex_;

public:
    void Lock() ACQUIRE() UNANALYSED { mutex_.lock(); }
    void Unlock() RELEASE() UNANALYSED { mutex_.unlock(); }
    int name() const { return name_; }
};

class CAPABILITY("mutex") Spin {
    std::atomic<bool> taken_{false};

public:
    void Lock() ACQUIRE() UNANALYSED
    {
        while (taken_.exchange(true, std::memory_order_acquire)) {
        }
    }
    void Unlock() RELEASE() UNANALYSED { taken_.store(false, std::memory_order_release); }
};

struct Base {
    Mutex mu_;
};

struct Cache : Base {
    int hits_ GUARDED_BY(mu_);
    int misses_ GUARDED_BY(this->mu_);
    int *slots_ PT_GUARDED_BY(mu_);
    Spin spin_;
    int spun_ GUARDED_BY(spin_);
    void clear() REQUIRES(mu_);
    Cache() : hits_(0), misses_(0), slots_(new int[4]()), spun_(0) {}
    ~Cache() UNANALYSED
    {
        hits_ = 0;
        delete[] slots_;
    }
};

void Cache::clear()
{
    hits_ = 0;
}

// Out of reach of the class: a parameter leads to the lock.
static void reset(Cache *c) REQUIRES(c->mu_)
{
    c->misses_ = 0;
}

static Cache *cache;
static char order;

static void make()
{
    cache = new Cache;
}

template <class Act> static void locked(Act act) UNANALYSED
{
    cache->mu_.Lock();
    act();
    cache->mu_.Unlock();
    __tsan_release(&order);
}
template <class Act> static void perhaps_locked(Act act) UNANALYSED
{
    __tsan_acquire(&order);
    if (!broken)
        cache->mu_.Lock();
    act();
    if (!broken)
        cache->mu_.Unlock();
}

static void hit() UNANALYSED { cache->hits_++; }
static void miss() UNANALYSED { cache->misses_++; }
static void clear() UNANALYSED { cache->clear(); }
static void reset_it() UNANALYSED { reset(cache); }
static void fill() UNANALYSED { cache->slots_[2]++; }

static void first_hit() { locked(hit); }
static void second_hit() { perhaps_locked(hit); }
static void first_miss() { locked(miss); }
static void second_miss() { perhaps_locked(miss); }
static void first_fill() { locked(fill); }
static void first_clear() { locked(clear); }
static void second_clear() { perhaps_locked(clear); }
static void first_reset() { locked(reset_it); }
static void second_reset() { perhaps_locked(reset_it); }
static void second_fill() { perhaps_locked(fill); }

// The last owner ends it without the lock; another thread that lives on does not matter.
static void end_it() UNANALYSED
{
    __tsan_acquire(&order);
    if (broken)
        cache->hits_ = 1;
    delete cache;
}

static void spin() UNANALYSED
{
    if (!broken)
        cache->spin_.Lock();
    cache->spun_++;
    if (!broken)
        cache->spin_.Unlock();
}

#define SAYS(lock) "the source says guarded_by\\(" lock "\\)"
static const struct test all[] = {
    {"wrapper", SAYS("mu_"), make, first_hit, second_hit},
    {"with_this", SAYS("this->mu_"), make, first_miss, second_miss},
    {"pointee", "the source says pt_guarded_by\\(mu_\\)", make, first_fill, second_fill},
    {"requires", "the source says requires_capability\\(mu_\\)", make, first_clear, second_clear},
    {"requires_parameter", "the source says requires_capability\\(c->mu_\\)", make, first_reset, second_reset},
    {"destructor", SAYS("mu_"), make, first_hit, end_it},
    {"unseen_lock", "data race on .*spun_", make, spin, spin},
};
CASES(all)
