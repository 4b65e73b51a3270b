// suspect: records
// A queue of a fixed size in the style of C++ libraries; broken: it does not look whether the slot was read.
#include <atomic>
#include <thread>

struct Queue {
    static constexpr unsigned size = 32;
    int records[size];
    std::atomic<unsigned> readIndex{0}, writeIndex{0};

    bool write(int value)
    {
        auto const current = writeIndex.load(std::memory_order_relaxed);
        auto next = current + 1;
        if (next == size)
            next = 0;
#ifndef BROKEN
        if (next == readIndex.load(std::memory_order_acquire))
            return false;
#endif
        records[current] = value;
        writeIndex.store(next, std::memory_order_release);
        return true;
    }

    bool read(int &value)
    {
        auto const current = readIndex.load(std::memory_order_relaxed);
        if (current == writeIndex.load(std::memory_order_acquire))
            return false;
        auto next = current + 1;
        if (next == size)
            next = 0;
        value = records[current];
        readIndex.store(next, std::memory_order_release);
        return true;
    }
};

static Queue queue;

int main()
{
    std::thread producer([] {
        for (int i = 0; i < 1000; i++)
            while (!queue.write(i)) {
            }
    });
    std::thread consumer([] {
        int got;
        for (int i = 0; i < 1000; i++)
            while (!queue.read(got)) {
            }
    });
    producer.join();
    consumer.join();
}
