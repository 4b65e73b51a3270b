#include "messages.h"

Channel::Channel(std::function<void(const std::string &)> receiver)
    : receiver_(std::move(receiver)), thread_([this] { deliver(); })
{
}

Channel::~Channel()
{
    {
        std::lock_guard<std::mutex> guard(mutex_);
        closing_ = true;
    }
    arrived_.notify_all();
    thread_.join();
}

void Channel::send(std::string message)
{
    {
        std::lock_guard<std::mutex> guard(mutex_);
        waiting_.push_back(std::move(message));
    }
    arrived_.notify_one();
}

unsigned Channel::delivered() const
{
#ifndef UNLOCKED
    std::lock_guard<std::mutex> guard(mutex_);
#endif
    return delivered_;
}

void Channel::deliver()
{
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        arrived_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
        if (waiting_.empty())
            return;
        std::string message = std::move(waiting_.front());
        waiting_.pop_front();
        delivered_++;
        lock.unlock();
        receiver_(message);
        lock.lock();
    }
}
