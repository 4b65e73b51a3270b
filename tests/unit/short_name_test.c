/* Names of C++ in tables: long arguments go, operators and short names stay. */
#include "report/short_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FILL "some_namespace_that_makes_every_name_of_this_test_a_long_one::"

static void shows(const char *name, const char *wanted)
{
    char *got = dh_short_name(name);
    assert_string_equal(got, wanted);
    free(got);
}

static void short_names_stay(void **state)
{
    (void)state;
    shows("", "");
    shows("counter", "counter");
    shows("std::map<int, std::string>::at", "std::map<int, std::string>::at");
}

static void long_arguments_go(void **state)
{
    (void)state;
    shows(FILL "Registry<std::map<int, long>, std::mutex>::add", FILL "Registry<..>::add");
    shows(FILL "Box<int>::Inner<std::vector<int, std::allocator<int> > >::run<long>",
          FILL "Box<int>::Inner<..>::run<long>");
}

static void strings_are_strings(void **state)
{
    (void)state;
    shows("names of std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >.size",
          "names of std::string.size");
}

static void operators_open_nothing(void **state)
{
    (void)state;
    shows(FILL "A::operator<", FILL "A::operator<");
    shows(FILL "A::operator<< <std::vector<int, std::allocator<int> > >", FILL "A::operator<< <..>");
    shows(FILL "A<decltype(x->y), long long, unsigned>::operator->", FILL "A<..>::operator->");
    shows(FILL "my_operator<std::vector<int, std::allocator<int> > >", FILL "my_operator<..>");
}

static void what_is_not_closed_stays(void **state)
{
    (void)state;
    shows(FILL "a < b and nothing closes this one", FILL "a < b and nothing closes this one");
    shows(FILL "a > b", FILL "a > b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_names_stay),         cmocka_unit_test(long_arguments_go),
        cmocka_unit_test(strings_are_strings),      cmocka_unit_test(operators_open_nothing),
        cmocka_unit_test(what_is_not_closed_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
