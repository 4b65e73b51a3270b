#include "host/activity.h"

#include "base/str.h"

static void (*show_line)(const char *line);

void dh_activity_show_by(void (*show)(const char *line))
{
    show_line = show;
}

void dh_activity_say(const char *fmt, ...)
{
    struct dh_str s = {0};
    va_list ap;
    if (!show_line)
        return;
    va_start(ap, fmt);
    dh_str_vaddf(&s, fmt, ap);
    va_end(ap);
    show_line(s.at);
    dh_str_release(&s);
}

void dh_activity_end(void)
{
    if (show_line)
        show_line(NULL);
}
