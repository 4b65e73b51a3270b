// BROKEN: Textures.known
// A cache that keeps what somebody else still uses.
#include "all.h"
struct Texture {
    std::string name;
    std::vector<unsigned char> pixels;
    explicit Texture(const std::string &n) : name(n), pixels(64) {}
};
class Textures {
    std::mutex m;
    std::unordered_map<std::string, std::weak_ptr<const Texture>> known;
    int misses = 0;

public:
    std::shared_ptr<const Texture> get(const std::string &name)
    {
#ifdef BROKEN
        auto at = known.find(name);
        if (at != known.end())
            if (auto there = at->second.lock())
                return there;
#endif
        std::lock_guard<std::mutex> guard(m);
        auto found = known.find(name);
        if (found != known.end())
            if (auto there = found->second.lock())
                return there;
        misses++;
        auto made = std::make_shared<const Texture>(name);
        known[name] = made;
        return made;
    }
    int missed()
    {
        std::lock_guard<std::mutex> guard(m);
        return misses;
    }
};

int main()
{
    Textures textures;
    std::vector<std::thread> users;
    for (int i = 0; i < 4; i++)
        users.push_back(std::thread([&textures, i] {
            auto mine = textures.get(i % 2 ? "wood" : "stone");
            printf("%s %zu\n", mine->name.c_str(), mine->pixels.size());
        }));
    for (auto &u : users)
        u.join();
    printf("%d\n", textures.missed());
}
