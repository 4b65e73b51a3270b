// Templates: variadic folds, concepts, CRTP, variant and visit, tuples, constexpr tables, structured bindings.
#include <array>
#include <compare>
#include <concepts>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <variant>

template <class... T> static auto sum(T... v)
{
    return (v + ... + 0);
}
template <class T>
concept Shape = requires(const T &t) {
    { t.area() } -> std::convertible_to<double>;
};
template <class D> struct Named {
    const char *name() const
    {
        return static_cast<const D *>(this)->label;
    }
};
struct Square : Named<Square> {
    static constexpr const char *label = "square";
    double side;
    explicit Square(double s) : side(s)
    {
    }
    double area() const
    {
        return side * side;
    }
};
static double measure(const Shape auto &s)
{
    return s.area();
}
template <class... F> struct Overload : F... {
    using F::operator()...;
};
template <class... F> Overload(F...) -> Overload<F...>;
static constexpr auto squares = [] {
    std::array<int, 20> a{};
    for (int i = 0; i < 20; i++)
        a[static_cast<size_t>(i)] = i * i;
    return a;
}();
struct Version {
    int major, minor;
    auto operator<=>(const Version &) const = default;
};

int main()
{
    std::printf("%d %g %s\n", sum(1, 2, 3, 4), measure(Square(1.5)), Square(1).name());
    std::variant<int, std::string, double> values[] = {3, std::string("text"), 2.5};
    for (auto &v : values)
        std::visit(Overload{[](int i) { std::printf("int %d\n", i); },
                            [](const std::string &s) { std::printf("string %s\n", s.c_str()); },
                            [](double d) { std::printf("double %g\n", d); }},
                   v);
    std::map<std::string, int> ages{{"bo", 3}, {"al", 9}};
    for (auto &[name, age] : ages)
        age += static_cast<int>(name.size());
    auto [a, b] = std::tuple(ages["al"], ages["bo"]);
    std::optional<int> none;
    std::printf("%d %d %d %d\n", a, b, none.value_or(-1), squares[19]);
    std::printf("%d %d\n", Version{1, 2} < Version{1, 10}, Version{2, 0} == Version{2, 0});
}
