/* Prints a finding without the tool: places by number, frames as FILE+OFFSET. */
#include "runtime/core/start.h"
#include "runtime/platform/print.h"
#include "runtime/platform/raw_syscall.h"
#include "runtime/report/outputs.h"

static const char *title_of(const struct dh_log_finding *f)
{
    bool ended = f->kind == DH_FINDING_USE_AFTER_FREE && f->n_accesses == 1;
    return ended ? "use after end of thread" : dh_finding_kind_title(f->kind);
}

static const char *level_of(const struct dh_log_finding *f)
{
    return f->level == DH_LEVEL_SUSPECTED ? "possible " : "";
}

static const char *path_of(const struct dh_log_finding *f, uint32_t module)
{
    return module == DH_LOG_NONE ? "?" : f->modules[module].path;
}

static unsigned print_frames(struct dh_sink *s, const struct dh_log_finding *f, const struct dh_log_stack *stack,
                             unsigned number)
{
    for (uint32_t i = 0; i < stack->n_frames; i++)
        dh_sink_printf(s, "    #%u %s+0x%lx\n", number++, path_of(f, stack->frames[i].module),
                       (unsigned long)stack->frames[i].offset);
    if (stack->n_cut)
        dh_sink_printf(s, "    ... %u more\n", stack->n_cut);
    return number;
}

static const char *verb_of(uint32_t flags)
{
    return flags & DH_LOG_FREE ? "Free" : flags & DH_LOG_ALLOC ? "Allocation" : flags & DH_LOG_WRITE ? "Write" : "Read";
}

static void print_role(struct dh_sink *s, const struct dh_log_access *a)
{
    const struct dh_log_role_words *w = dh_log_role_words(a->role);
    dh_sink_printf(s, "  Thread T%u %s", a->thread, w->does);
    if (a->role == DH_ROLE_JOIN)
        dh_sink_printf(s, " thread T%lu", (unsigned long)a->address);
    else if (w->object[0])
        dh_sink_printf(s, " %s %p", w->object, (void *)(uintptr_t)a->address);
    dh_sink_printf(s, ":\n");
}

static void print_access(struct dh_sink *s, const struct dh_log_finding *f, const struct dh_log_access *a, bool second)
{
    if (a->role)
        print_role(s, a);
    else
        dh_sink_printf(s, "  %s%s%s of size %u at %p by thread T%u:\n", second ? "Previous: " : "",
                       a->flags & DH_LOG_ATOMIC ? "Atomic " : "", verb_of(a->flags), a->size,
                       (void *)(uintptr_t)a->address, a->thread);
    if (a->flags & DH_LOG_NO_STACK) {
        dh_sink_printf(s, "    [too long ago: its place is not known any more]\n\n");
        return;
    }
    unsigned number = 0;
    if (a->place != DH_LOG_NONE)
        dh_sink_printf(s, "    #%u %s place %u\n", number++, path_of(f, a->module), a->place);
    print_frames(s, f, &a->stack, number);
    if (a->note && a->note[0])
        dh_sink_printf(s, "    %s\n", a->note);
    for (uint32_t i = 0; i < a->n_locks; i++)
        dh_sink_printf(s, "    holding lock %p\n", (void *)(uintptr_t)a->locks[i].address);
    dh_sink_char(s, '\n');
}

static void print_threads(struct dh_sink *s, const struct dh_log_finding *f)
{
    for (uint32_t i = 0; i < f->n_threads; i++) {
        const struct dh_log_thread *t = &f->threads[i];
        dh_sink_printf(s, "  Thread T%u '%s'%s\n", t->index, t->name, t->created.n_frames ? " created at:" : "");
        print_frames(s, f, &t->created, 0);
        dh_sink_char(s, '\n');
    }
}

static void print_summary(struct dh_sink *s, const struct dh_log_finding *f)
{
    const struct dh_log_access *a = f->n_accesses ? &f->access[0] : NULL;
    dh_sink_printf(s, "SUMMARY: deadheat: %s%s ", level_of(f), title_of(f));
    if (a && a->place != DH_LOG_NONE)
        dh_sink_printf(s, "%s place %u", path_of(f, a->module), a->place);
    else if (a && a->stack.n_frames)
        dh_sink_printf(s, "%s+0x%lx", path_of(f, a->stack.frames[0].module), (unsigned long)a->stack.frames[0].offset);
    dh_sink_printf(s, "\n==================\n");
}

void dh_report_print_plain(const struct dh_log_finding *f)
{
    int fd = dh_report_is_sandboxed() ? 2 : dh_print_open();
    struct dh_sink s;
    char log[512];
    dh_sink_start(&s, fd);
    dh_sink_printf(&s, "==================\nWARNING: deadheat: %s%s (pid=%d)\n", level_of(f), title_of(f),
                   dh_process.pid);
    if (f->text && f->text[0])
        dh_sink_printf(&s, "  %s\n", f->text);
    for (uint32_t i = 0; i < f->n_accesses; i++)
        print_access(&s, f, &f->access[i], i > 0);
    if (f->n_block) {
        dh_sink_printf(&s, "  Heap block of %lu bytes at %p allocated at:\n", (unsigned long)f->n_block,
                       (void *)(uintptr_t)f->block);
        print_frames(&s, f, &f->allocated, 0);
        dh_sink_char(&s, '\n');
    }
    print_threads(&s, f);
    if (dh_report_log_path(log, sizeof log))
        dh_sink_printf(&s, "  The names of these places: deadheat print-finding < %s\n", log);
    else
        dh_sink_printf(&s,
                       "  Source places are shown when DEADHEAT_TOOL names the deadheat tool, or under 'deadheat run'; "
                       "'addr2line -fie FILE OFFSET' resolves frames\n");
    print_summary(&s, f);
    dh_sink_flush(&s);
    if (fd > 2)
        dh_sys_close(fd);
}
