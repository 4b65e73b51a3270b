// What one thread deletes another one still uses.
// drive: --schedules=3000 --extend
// expect: found use-after-free: .*freed by thread
// expect: ends: done [1-9]
// replay: found (use-after-free|race|unordered)
#include <string>
#include <thread>

struct message {
    int kind = 1;
    std::string text = "a text that does not fit into the object itself";
};

static int seen;

int main()
{
    auto *m = new message;
    std::thread reader([m] { seen += m->kind; });
    std::thread owner([m] { delete m; });
    reader.join();
    owner.join();
}
