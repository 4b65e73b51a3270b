// suspect: slots
// A queue of one producer and one consumer whose sides keep what they last saw of the other; broken: the write index is read relaxed.
#include <atomic>
#include <cstddef>
#include <thread>

#ifdef BROKEN
constexpr auto look = std::memory_order_relaxed;
#else
constexpr auto look = std::memory_order_acquire;
#endif

class Queue {
    static constexpr size_t capacity = 16;
    int slots[capacity];
    alignas(64) std::atomic<size_t> writeIdx{0};
    alignas(64) size_t readIdxCache = 0;
    alignas(64) std::atomic<size_t> readIdx{0};
    alignas(64) size_t writeIdxCache = 0;

public:
    void push(int value)
    {
        auto const at = writeIdx.load(std::memory_order_relaxed);
        auto const next = at + 1 == capacity ? 0 : at + 1;
        while (next == readIdxCache)
            readIdxCache = readIdx.load(std::memory_order_acquire);
        slots[at] = value;
        writeIdx.store(next, std::memory_order_release);
    }

    bool pop(int &value)
    {
        auto const at = readIdx.load(std::memory_order_relaxed);
        if (at == writeIdxCache) {
            writeIdxCache = writeIdx.load(look);
            if (at == writeIdxCache)
                return false;
        }
        value = slots[at];
        readIdx.store(at + 1 == capacity ? 0 : at + 1, std::memory_order_release);
        return true;
    }
};

static Queue queue;

int main()
{
    std::thread producer([] {
        for (int i = 0; i < 100; i++)
            queue.push(i);
    });
    std::thread consumer([] {
        int value = 0;
        for (int i = 0; i < 100; i++)
            while (!queue.pop(value)) {
            }
    });
    producer.join();
    consumer.join();
}
