// BROKEN: Doc.text
// What is done with a document is given as a function, and done under the lock.
#include "all.h"
struct Doc {
    std::string text;
    int rev = 0;
    std::vector<std::string> undo;
};
class Store
{
    std::mutex m;
    std::map<std::string, Doc> docs;

  public:
    template <class F> auto with(const std::string &n, F f)
    {
#ifndef BROKEN
        std::lock_guard<std::mutex> g(m);
#endif
        return f(docs[n]);
    }
    std::string read(const std::string &n)
    {
        std::lock_guard<std::mutex> g(m);
        auto it = docs.find(n);
        return it == docs.end() ? std::string() : it->second.text;
    }
};
int main()
{
    Store s;
    auto edit = [&s](const char *who) {
        for (int i = 0; i < 10; i++)
            s.with("readme", [&](Doc &d) {
                d.undo.push_back(d.text);
                d.text += who;
                return ++d.rev;
            });
    };
    std::thread a([&] { edit("a"); });
    std::thread b([&] { edit("b"); });
    std::thread c([&] {
        for (int i = 0; i < 5; i++)
            printf("%zu\n", s.read("readme").size());
    });
    a.join();
    b.join();
    c.join();
    printf("%s\n", s.read("readme").c_str());
}
