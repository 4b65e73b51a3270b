/* A small messaging library: a thread of its own delivers what is sent. */
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

class Channel
{
  public:
    explicit Channel(std::function<void(const std::string &)> receiver);
    ~Channel();
    void send(std::string message);
    unsigned delivered() const;

  private:
    void deliver();
    std::function<void(const std::string &)> receiver_;
    std::deque<std::string> waiting_;
    mutable std::mutex mutex_;
    std::condition_variable arrived_;
    unsigned delivered_ = 0;
    bool closing_ = false;
    std::thread thread_;
};
