#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
static std::map<std::string, int> cache;
extern "C" int lib_parse(const char *text, char *message, std::size_t n)
{
    try {
        int v = cache[text] = std::stoi(text);
        std::strncpy(message, "fine", n);
        return v + static_cast<int>(cache.size());
    } catch (const std::exception &e) {
        std::strncpy(message, e.what(), n);
        return -1;
    }
}
