// An object request broker and its echo test: client threads share one connection to a server in the same process,
// every request is marshalled, dispatched to the echo servant by a pool of workers, and answered. Requests and replies
// are synchronised; four pieces of housekeeping are not: the count of served requests (load and store), the
// connection's time of last use (a reaper reads it), the observer of replies (test and use, removed at the end), the
// shutdown flag.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

// What goes over the wire: request id, object key, operation, body.
using Message = std::string;

struct Request {
    unsigned id;
    std::string key, operation, body;
};

static Message marshal(const Request &r)
{
    return std::to_string(r.id) + '\n' + r.key + '\n' + r.operation + '\n' + r.body;
}

static std::string take_line(const Message &m, size_t &at)
{
    size_t end = m.find('\n', at);
    std::string line = m.substr(at, end - at);
    at = end + 1;
    return line;
}

static Request unmarshal(const Message &m)
{
    size_t at = 0;
    Request r;
    r.id = static_cast<unsigned>(std::stoul(take_line(m, at)));
    r.key = take_line(m, at);
    r.operation = take_line(m, at);
    r.body = m.substr(at);
    return r;
}

class Queue
{
  public:
    void push(Message m)
    {
        std::lock_guard<std::mutex> guard(lock_);
        messages_.push_back(std::move(m));
        changed_.notify_one();
    }

    // False: closed and empty.
    bool pop(Message &m)
    {
        std::unique_lock<std::mutex> guard(lock_);
        changed_.wait(guard, [this] { return closed_ || !messages_.empty(); });
        if (messages_.empty())
            return false;
        m = std::move(messages_.front());
        messages_.pop_front();
        return true;
    }

    void close()
    {
        std::lock_guard<std::mutex> guard(lock_);
        closed_ = true;
        changed_.notify_all();
    }

  private:
    std::mutex lock_;
    std::condition_variable changed_;
    std::deque<Message> messages_;
    bool closed_ = false;
};

// Server side object.
class Servant
{
  public:
    virtual ~Servant() = default;
    virtual std::string invoke(const std::string &operation, const std::string &body) = 0;
};

class Echo : public Servant
{
  public:
    std::string invoke(const std::string &operation, const std::string &body) override
    {
        return operation == "echo" ? body : "BAD_OPERATION";
    }
};

// Told of every reply; its own state is atomic.
class Observer
{
  public:
    void replied(size_t bytes)
    {
        bytes_ += bytes;
    }

  private:
    std::atomic<unsigned long> bytes_{0};
};

// The client's end: many threads, one connection; replies find their caller by request id.
class Connection
{
  public:
    explicit Connection(Queue &out) : out_(out)
    {
    }

    std::string call(const std::string &key, const std::string &operation, const std::string &body)
    {
        unsigned id = next_id_++;
#ifdef FIXED
        last_used_.store(clock_++, std::memory_order_relaxed);
#else
        last_used_ = clock_++;
#endif
        out_.push(marshal({id, key, operation, body}));
        std::unique_lock<std::mutex> guard(lock_);
        arrived_.wait(guard, [this, id] { return replies_.count(id) > 0; });
        std::string reply = std::move(replies_[id]);
        replies_.erase(id);
        return reply;
    }

    void deliver(unsigned id, std::string reply)
    {
        std::lock_guard<std::mutex> guard(lock_);
        replies_[id] = std::move(reply);
        arrived_.notify_all();
    }

    // Whether nobody has used the connection for the last `ticks` requests of anybody.
    bool idle_for(long ticks) const
    {
        long now = clock_;
#ifdef FIXED
        return now - last_used_.load(std::memory_order_relaxed) > ticks;
#else
        return now - last_used_ > ticks;
#endif
    }

  private:
    Queue &out_;
    std::mutex lock_;
    std::condition_variable arrived_;
    std::map<unsigned, std::string> replies_;
    std::atomic<unsigned> next_id_{1};
    std::atomic<long> clock_{0};
#ifdef FIXED
    std::atomic<long> last_used_{0};
#else
    long last_used_ = 0;
#endif
};

class Orb
{
  public:
    explicit Orb(int workers) : connection_(requests_)
    {
        servants_["EchoServer"] = std::make_unique<Echo>();
        observer_ = &reply_observer_;
        for (int i = 0; i < workers; i++)
            pool_.emplace_back([this] { serve(); });
    }

    Connection &connection()
    {
        return connection_;
    }

    void remove_observer()
    {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(housekeeping_);
#endif
        observer_ = nullptr;
    }

    void shutdown()
    {
        shutting_down_ = true;
        requests_.close();
        for (std::thread &worker : pool_)
            worker.join();
    }

    long served() const
    {
        return served_;
    }

  private:
    void serve()
    {
        Message m;
        while (!shutting_down_ && requests_.pop(m)) {
            Request r = unmarshal(m);
            std::string reply = dispatch(r);
            size_t bytes = reply.size();
            count_request();
            connection_.deliver(r.id, std::move(reply));
            tell_observer(r.id, bytes);
        }
    }

    std::string dispatch(const Request &r)
    {
        auto servant = servants_.find(r.key);
        return servant == servants_.end() ? "OBJECT_NOT_EXIST" : servant->second->invoke(r.operation, r.body);
    }

    void count_request()
    {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(housekeeping_);
#endif
        served_++;
    }

    void tell_observer(unsigned id, size_t bytes)
    {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(housekeeping_);
#endif
        if (observer_ != nullptr) {
            trace(id);
            observer_->replied(bytes);
        }
    }

    void trace(unsigned id)
    {
        std::lock_guard<std::mutex> guard(trace_lock_);
        last_traced_ = id;
    }

    Queue requests_;
    Connection connection_;
    std::map<std::string, std::unique_ptr<Servant>> servants_;
    std::vector<std::thread> pool_;
    Observer reply_observer_;
    std::mutex trace_lock_;
    unsigned last_traced_ = 0;
    Observer *observer_ = nullptr;
    long served_ = 0;
#ifdef FIXED
    std::mutex housekeeping_;
    std::atomic<bool> shutting_down_{false};
#else
    bool shutting_down_ = false;
#endif
};

static int clients = 10, workers = 2;
static long requests = 40;

// Looks from time to time whether the connection could be closed.
static void reaper(const Connection &connection, std::atomic<bool> &stop, std::mutex &lock,
                   std::condition_variable &changed, long &idle)
{
    std::unique_lock<std::mutex> guard(lock);
    while (!stop) {
        changed.wait_for(guard, std::chrono::milliseconds(1));
        idle += connection.idle_for(1000);
    }
}

static void echo_client(Connection &connection, int id, long &wrong)
{
    for (long i = 0; i < requests; i++) {
        std::string text = "client " + std::to_string(id) + " request " + std::to_string(i);
        if (connection.call("EchoServer", "echo", text) != text)
            wrong++;
    }
}

static long run_clients(Connection &connection)
{
    std::vector<std::thread> threads;
    std::vector<long> wrong(static_cast<size_t>(clients), 0);
    for (int i = 0; i < clients; i++)
        threads.emplace_back(echo_client, std::ref(connection), i, std::ref(wrong[static_cast<size_t>(i)]));
    long sum = 0;
    for (size_t i = 0; i < threads.size(); i++) {
        threads[i].join();
        sum += wrong[i];
    }
    return sum;
}

static int check(const Orb &orb, long wrong)
{
    if (wrong) {
        std::printf("FAILED: %ld wrong echoes\n", wrong);
        return 1;
    }
    if (orb.served() != clients * requests) {
        std::printf("FAILED: %ld requests counted, %ld served\n", orb.served(), clients * requests);
        return 1;
    }
    std::puts("ok");
    return 0;
}

static int usage(const char *prog, int code)
{
    std::fprintf(code ? stderr : stdout, "usage: %s [-t client threads] [-w server workers] [-n requests]\n", prog);
    return code;
}

int main(int argc, char **argv)
{
    int c;
    while ((c = getopt(argc, argv, "t:w:n:h")) != -1) {
        if (c == 't')
            clients = std::atoi(optarg);
        else if (c == 'w')
            workers = std::atoi(optarg);
        else if (c == 'n')
            requests = std::atol(optarg);
        else
            return usage(argv[0], c == 'h' ? 0 : 2);
    }
    if (clients < 1 || workers < 1 || requests < 0)
        return usage(argv[0], 2);

    auto orb = std::make_unique<Orb>(workers);
    std::atomic<bool> stop{false};
    std::mutex reaper_lock;
    std::condition_variable reaper_changed;
    long idle = 0;
    std::thread reaping(reaper, std::cref(orb->connection()), std::ref(stop), std::ref(reaper_lock),
                        std::ref(reaper_changed), std::ref(idle));
    long wrong = run_clients(orb->connection());
    orb->remove_observer();
    stop = true;
    reaper_changed.notify_one();
    reaping.join();
    orb->shutdown();
    return check(*orb, wrong);
}
