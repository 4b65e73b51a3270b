/* Threads files: what is printed for good ones, what is said about bad ones; addresses of this very program resolve
 * to its lines, inlined calls included. Needs src/cmd/threads_print.c, src/host/symbolize.c, err.c, str.c, libdw. */
#include "cmd/threads_print.h"
#include "host/symbolize.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static uintptr_t where;
static unsigned inlined_line, call_line;

static inline __attribute__((always_inline)) void inlined_callee(void)
{
    inlined_line = __LINE__ + 1;
    __asm__ volatile("lea 0f(%%rip), %0\n0: nop" : "=r"(where));
}

static __attribute__((noinline)) void physical_caller(void)
{
    call_line = __LINE__ + 1;
    inlined_callee();
}

static int first_base(struct dl_phdr_info *info, size_t size, void *base)
{
    (void)size;
    *(uintptr_t *)base = info->dlpi_addr;
    return 1;
}

static const char *self(void)
{
    static char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(n > 0);
    path[n] = 0;
    return path;
}

static uint64_t offset_of_callee(void)
{
    uintptr_t base = 0;
    physical_caller();
    dl_iterate_phdr(first_base, &base);
    return where - base;
}

static void inlined_frames(void **state)
{
    (void)state;
    struct dh_symbolizer *s = dh_symbolizer_new();
    struct dh_source_frames f = {0};
    assert_true(dh_symbolize(s, self(), offset_of_callee(), &f));
    assert_int_equal(f.frames.n, 2);
    assert_string_equal(f.frames.at[0].function, "inlined_callee");
    assert_int_equal(f.frames.at[0].line, inlined_line);
    assert_string_equal(f.frames.at[1].function, "physical_caller");
    assert_int_equal(f.frames.at[1].line, call_line);
    assert_int_equal(f.frames.at[1].column, 5);
    assert_non_null(strstr(f.frames.at[0].file, "runtime_threads_print_test.c"));
    dh_source_frames_release(&f);
    assert_false(dh_symbolize(s, "/nonexistent", 16, &f));
    assert_false(dh_symbolize(s, self(), UINT64_MAX - 16, &f));
    assert_int_equal(f.frames.n, 0);
    dh_symbolizer_free(s);
}

/* What is printed for `text`, or the error after a '!'. The caller frees. */
static char *printed(const char *text)
{
    char path[] = "/tmp/threads-XXXXXX", *out = NULL;
    size_t n = 0;
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    FILE *to = open_memstream(&out, &n);
    struct dh_err err = {0};
    if (!dh_threads_print(path, to, &err))
        fprintf(to, "!%s", err.text + strlen(path));
    dh_err_release(&err);
    fclose(to);
    unlink(path);
    return out;
}

static void expect(const char *text, const char *answer)
{
    char *out = printed(text);
    assert_string_equal(out, answer);
    free(out);
}

static void paragraphs(void **state)
{
    (void)state;
    expect(
        "deadheat-threads 1\n0\tbank\t-\trunning\t10\n1\ta\\x09b\\x5c\t0\tjoined\t11\t/no/lib.so+0x10\t?+0xff\t/x+0x1\n"
        "2\tc\t1\tdetached\t12\n3\td\t-\tfinished\t13\n# 4 later threads were not kept\n",
        "thread 0 'bank' (running)\n"
        "thread 1 'a\tb\\' (joined), created by main at /no/lib.so+0x10\n    from ?+0xff\n"
        "thread 2 'c' (detached), created by thread 1 'a\tb\\'\n"
        "thread 3 'd' (finished), created out of sight\n"
        "4 later threads were not kept\n");
}

static void source_places(void **state)
{
    (void)state;
    char text[8192];
    snprintf(text, sizeof text, "deadheat-threads 1\n1\tw\t0\tjoined\t11\t%s+0x%llx\n", self(),
             (unsigned long long)offset_of_callee() + 1);
    char *out = printed(text), in[64];
    snprintf(in, sizeof in, "runtime_threads_print_test.c:%u:5 in physical_caller\n", call_line);
    assert_non_null(strstr(out, " in inlined_callee\n    from "));
    assert_non_null(strstr(out, in));
    free(out);
}

static void bad_files(void **state)
{
    (void)state;
    static const char other[] = "!: not a threads file of this version", line[] = "!:2: not a line of a threads file";
    expect("", other);
    expect("deadheat-threads 2\n", other);
    static const char *const lines[] = {"x",
                                        "1",
                                        "1\ta\t0\trunning",
                                        "1\ta\t0\trunning\tx",
                                        "1\ta\tz\trunning\t5",
                                        "1\ta\t0\trunning\t5\tlib",
                                        "1\ta\t0\trunning\t5\tlib+0xq",
                                        "\t\t\t\t"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[100];
        snprintf(text, sizeof text, "deadheat-threads 1\n%s\n", lines[i]);
        expect(text, line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inlined_frames),
        cmocka_unit_test(paragraphs),
        cmocka_unit_test(source_places),
        cmocka_unit_test(bad_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
