#include "host/notice.h"

#include "base/str.h"

static void (*print_line)(const char *line);

void dh_notices_print_by(void (*print)(const char *line))
{
    print_line = print;
}

void dh_notice(const char *fmt, ...)
{
    struct dh_str s = {0};
    va_list ap;
    va_start(ap, fmt);
    dh_str_vaddf(&s, fmt, ap);
    va_end(ap);
    while (s.n && s.at[s.n - 1] == '\n')
        s.at[--s.n] = 0;
    for (size_t i = 0; i < s.n; i++) /* messages of LLVM and the linker may have several lines */
        if (s.at[i] == '\n')
            s.at[i] = ' ';
    if (print_line)
        print_line(s.at);
    dh_str_release(&s);
}

void dh_notice_err(struct dh_err *err)
{
    dh_notice("%s", err->text ? err->text : "failed");
    dh_err_release(err);
}
