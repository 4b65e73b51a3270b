// A synchronised string buffer, the java.lang.StringBuffer scenario that von Praun checks in section 5.3.
// Each method is atomic, but append(StringBuffer) asks the other buffer for its length and then for that many
// characters, in two critical sections of the other buffer's lock. If an editor replaces the text in between, append
// asks for characters that are no longer there (Java: StringIndexOutOfBoundsException) or takes half of a longer line.
// Editors keep replacing the headline; reporters append it to their own pages and check what they got.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

static const int max_threads = 64;
static const int longest_line = 120;

class StringBuffer
{
  public:
    explicit StringBuffer(size_t capacity) : value(capacity)
    {
    }

    size_t length()
    {
        std::lock_guard<std::recursive_mutex> hold(monitor);
        return count;
    }

    // Characters [begin, end) to `to`; false where Java throws.
    bool get_chars(size_t begin, size_t end, char *to)
    {
        std::lock_guard<std::recursive_mutex> hold(monitor);
        if (begin > end || end > count)
            return false;
        memcpy(to, value.data() + begin, end - begin);
        return true;
    }

    bool append(StringBuffer &other)
    {
        std::lock_guard<std::recursive_mutex> hold(monitor);
#ifdef FIXED
        std::lock_guard<std::recursive_mutex> hold_other(other.monitor);
#endif
        size_t len = other.length();
        reserve(count + len);
        if (!other.get_chars(0, len, value.data() + count))
            return false;
        count += len;
        return true;
    }

    void replace(const char *text, size_t len)
    {
        std::lock_guard<std::recursive_mutex> hold(monitor);
        reserve(len);
        memcpy(value.data(), text, len);
        count = len;
    }

    // Takes the last line off and returns it, without its end of line.
    std::string cut_last_line()
    {
        std::lock_guard<std::recursive_mutex> hold(monitor);
        std::string line(value.data(), count);
        count = 0;
        if (!line.empty() && line.back() == '\n')
            line.pop_back();
        return line;
    }

  private:
    void reserve(size_t wanted)
    {
        if (wanted > value.size())
            value.resize(wanted * 2);
    }

    std::recursive_mutex monitor; // as a Java monitor is
    std::vector<char> value;
    size_t count = 0;
};

// A line tells its own length: "37:" and then letters until it is 37 characters long.
static size_t make_line(char *line, unsigned length)
{
    int head = snprintf(line, 8, "%u:", length);
    memset(line + head, 'a' + int(length % 26), length - unsigned(head));
    return length;
}

static bool is_whole_line(const std::string &line)
{
    char expected[longest_line + 8];
    unsigned length = unsigned(strtoul(line.c_str(), nullptr, 10));
    if (length != line.size() || length < 4 || length > unsigned(longest_line))
        return false;
    make_line(expected, length);
    return line.compare(0, line.size(), expected, length) == 0;
}

static void editor_run(StringBuffer &headline, unsigned seed, long rounds)
{
    char line[longest_line + 8];
    for (long i = 0; i < rounds; i++) {
        seed = seed * 1664525u + 1013904223u;
        size_t length = make_line(line, 4 + (seed >> 8) % unsigned(longest_line - 3));
        headline.replace(line, length);
    }
}

static void reporter_run(StringBuffer &headline, long rounds, long &wrong)
{
    StringBuffer page(longest_line);
    for (long i = 0; i < rounds; i++) {
        bool taken = page.append(headline);
        if (!is_whole_line(page.cut_last_line()) || !taken)
            wrong++;
    }
}

static long publish(int threads, long rounds)
{
    StringBuffer headline(longest_line);
    headline.replace("7:hhhhh", 7);
    std::vector<std::thread> newsroom;
    std::vector<long> wrong(size_t(threads), 0);
    for (int t = 0; t < threads; t++) {
        if (t % 2 == 0)
            newsroom.emplace_back(reporter_run, std::ref(headline), rounds, std::ref(wrong[size_t(t)]));
        else
            newsroom.emplace_back(editor_run, std::ref(headline), unsigned(t), rounds);
    }
    long sum = 0;
    for (int t = 0; t < threads; t++) {
        newsroom[size_t(t)].join();
        sum += wrong[size_t(t)];
    }
    return sum;
}

int main(int argc, char **argv)
{
    int threads = 2, option;
    long rounds = 1000;
    while ((option = getopt(argc, argv, "t:n:h")) != -1) {
        if (option == 't')
            threads = atoi(optarg);
        else if (option == 'n')
            rounds = atol(optarg);
        else {
            printf("usage: strbuf [-t reporters and editors (2..%d)] [-n rounds]\n", max_threads);
            return option == 'h' ? 0 : 2;
        }
    }
    if (threads < 2 || threads > max_threads || rounds < 0)
        return fprintf(stderr, "strbuf: bad number of threads or rounds\n"), 2;
    long wrong = publish(threads, rounds);
    if (wrong)
        printf("FAILED: %ld headlines were cut or could not be taken\n", wrong);
    else
        printf("ok\n");
    return wrong != 0;
}
