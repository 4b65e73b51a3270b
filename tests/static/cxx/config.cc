// BROKEN: Config.values
// Settings that many read and few write.
#include "all.h"
class Config {
    mutable std::shared_mutex m;
    std::map<std::string, std::string> values;
    int version = 0;

public:
    std::string get(const std::string &key, const std::string &otherwise) const
    {
        std::shared_lock<std::shared_mutex> lock(m);
        auto it = values.find(key);
        return it == values.end() ? otherwise : it->second;
    }
    void set(const std::string &key, std::string value)
    {
        {
#ifdef BROKEN
            std::shared_lock<std::shared_mutex> lock(m);
#else
            std::unique_lock<std::shared_mutex> lock(m);
#endif
            values[key] = std::move(value);
        }
        std::unique_lock<std::shared_mutex> lock(m);
        version++;
    }
    int changes() const
    {
        std::shared_lock<std::shared_mutex> lock(m);
        return version;
    }
};
static Config config;

int main()
{
    std::thread writer([] {
        for (int i = 0; i < 10; i++)
            config.set("limit", std::to_string(i));
    });
    std::thread readers[2];
    for (auto &r : readers)
        r = std::thread([] { printf("%s\n", config.get("limit", "none").c_str()); });
    for (auto &r : readers)
        r.join();
    writer.join();
    printf("%d\n", config.changes());
}
