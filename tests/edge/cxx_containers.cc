// The standard library under load: strings, maps, sorting, streams, iostream with its static initialiser.
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

int main()
{
    std::unordered_map<std::string, int> count;
    std::map<int, std::vector<std::string>> by_count;
    unsigned x = 1;
    for (int i = 0; i < 2000; i++) {
        x = x * 1103515245u + 12345u;
        count["word" + std::to_string((x >> 16) % 37)]++;
    }
    for (auto &[w, n] : count)
        by_count[n].push_back(w);
    for (auto &[n, words] : by_count)
        std::sort(words.begin(), words.end());
    std::cout << by_count.begin()->first << ' ' << by_count.rbegin()->second.front() << '\n';
    std::vector<double> v(1000);
    std::iota(v.begin(), v.end(), 0.5);
    std::rotate(v.begin(), v.begin() + 333, v.end());
    std::stable_partition(v.begin(), v.end(), [](double d) { return static_cast<int>(d) % 3 == 0; });
    std::ostringstream out;
    out << std::setprecision(3) << std::fixed << std::accumulate(v.begin(), v.begin() + 100, 0.0) << std::hex << ' '
        << 255;
    std::istringstream in(out.str());
    double d;
    std::string rest;
    in >> d >> rest;
    std::cout << out.str() << '|' << d << '|' << rest << std::endl;
    std::cerr << "on standard error" << std::endl;
    return std::cout.good() ? 0 : 1;
}
