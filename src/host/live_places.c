#include "host/live_places.h"

#include "host/idle.h"
#include "host/offspring.h"
#include "host/symbolize.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

/* Registers as DWARF numbers them; how much of a stack is searched for a frame. */
enum { FRAME_POINTER = 6, STACK_POINTER = 7, FRAMES_MOST = 64, WORDS_SEARCHED = 512, PLACES_SHOWN = 6 };

struct thread {
    pid_t process, id;
    struct dh_wait_call call;
    uint64_t frame; /* frame pointer; 0: not known */
};

/* What it waits for, as far as that has a name; "" for none. */
enum { OBJECT_MOST = 80 };

struct place {
    char *words;
    unsigned threads;
};

struct places {
    struct dh_symbolizer *symbols;
    DH_VEC(struct place) at;
};

/* ---- a stack, from outside ---- */

static pid_t only_thread(Dwfl *dwfl, void *arg, void **thread)
{
    const struct thread *t = arg;
    (void)dwfl;
    if (*thread)
        return 0;
    *thread = arg;
    return t->id;
}

static bool read_bytes(pid_t process, uint64_t at, void *out, size_t n)
{
    struct iovec here = {out, n}, there = {(void *)at, n};
    return process_vm_readv(process, &here, 1, &there, 1, 0) == (ssize_t)n;
}

static bool read_word(Dwfl *dwfl, Dwarf_Addr at, Dwarf_Word *out, void *arg)
{
    const struct thread *t = arg;
    (void)dwfl;
    return read_bytes(t->process, at, out, sizeof *out);
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
    const struct thread *t = arg;
    Dwarf_Word stack = t->call.stack;
    if (!dwfl_thread_state_registers(thread, STACK_POINTER, 1, &stack))
        return false;
    if (t->frame && !dwfl_thread_state_registers(thread, FRAME_POINTER, 1, &t->frame))
        return false;
    dwfl_thread_state_register_pc(thread, t->call.code);
    return true;
}

/* Whether the return address follows a direct call of that function. */
static bool is_after_call_of(pid_t process, uint64_t address, uint64_t function)
{
    enum { CALL = 0xe8, LENGTH = 5 };
    unsigned char code[LENGTH];
    int32_t distance;
    if (address < LENGTH || !read_bytes(process, address - LENGTH, code, LENGTH) || code[0] != CALL)
        return false;
    memcpy(&distance, code + 1, sizeof distance);
    return address + (uint64_t)(int64_t)distance == function;
}

/* The system tells no more registers than the stack pointer. Functions that set up a frame pointer are left by it: it
 * is where such a frame of `function` lies, whose return address follows a call of it. */
static uint64_t find_frame(const struct thread *t, uint64_t function)
{
    uint64_t words[WORDS_SEARCHED + 2], from = (t->call.stack + 15) & ~15ull;
    size_t n = WORDS_SEARCHED;
    while (n > 16 && !read_bytes(t->process, from, words, (n + 2) * sizeof *words))
        n /= 2;
    for (size_t i = 0; n > 16 && i < n; i += 2)
        if (is_after_call_of(t->process, words[i + 1], function))
            return from + i * sizeof *words;
    return 0;
}

struct walk {
    struct dh_symbolizer *symbols;
    unsigned frames;
    uint64_t last; /* where the function of the outermost frame that was seen begins, or 0 */
    char *place;   /* of the innermost frame that is the program's own; owned */
    char object[OBJECT_MOST];
};

/* The runtime stands between the program and its libraries. */
static bool is_own(const struct dh_source_frame *f)
{
    return f->function && f->file && f->line && !strstr(f->file, "src/runtime/");
}

/* In which every call waits in the end, with debug information or without. */
static bool is_system(const char *file)
{
    static const char *const names[] = {"libc.so", "libpthread.so", "ld-linux", "libstdc++.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (dh_starts_with(dh_basename(file), names[i]))
            return true;
    return false;
}

static char *place_at(struct dh_symbolizer *symbols, const char *file, uint64_t offset)
{
    struct dh_source_frames f = {0};
    char *place = NULL;
    if (dh_symbolize(symbols, file, offset, &f) && is_own(&f.frames.at[0]))
        place =
            dh_format("%s:%u in %s", dh_basename(f.frames.at[0].file), f.frames.at[0].line, f.frames.at[0].function);
    dh_source_frames_release(&f);
    return place;
}

static int look_at(Dwfl_Frame *frame, void *arg)
{
    struct walk *w = arg;
    Dwarf_Addr pc, bias;
    bool exact;
    const char *file = NULL;
    if (w->frames++ >= FRAMES_MOST || !dwfl_frame_pc(frame, &pc, &exact))
        return DWARF_CB_ABORT;
    pc -= exact ? 0 : 1;
    Dwfl_Module *m = dwfl_addrmodule(dwfl_thread_dwfl(dwfl_frame_thread(frame)), pc);
    GElf_Off into = 0;
    GElf_Sym symbol;
    w->last = m && dwfl_module_addrinfo(m, pc, &into, &symbol, NULL, NULL, NULL) ? pc - into : 0;
    if (m && dwfl_module_getelf(m, &bias))
        dwfl_module_info(m, NULL, NULL, NULL, NULL, NULL, &file, NULL);
    if (file && !is_system(file))
        w->place = place_at(w->symbols, file, pc - bias);
    return w->place ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static Dwfl *open_process(pid_t process)
{
    static char *nowhere;
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo,
                                             .debuginfo_path = &nowhere};
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (dwfl && dwfl_linux_proc_report(dwfl, process) == 0 && dwfl_report_end(dwfl, NULL, NULL) == 0)
        return dwfl;
    dwfl_end(dwfl);
    return NULL;
}

/* ---- what it waits for ---- */

/* Variables without a value in the file lie behind what the system knows to be mapped from it. */
static Dwfl_Module *module_of_data(Dwfl *dwfl, uint64_t address)
{
    enum { PAGE = 4096, PAGES_MOST = 4096 };
    Dwfl_Module *m = NULL;
    for (unsigned i = 0; !m && i < PAGES_MOST && address > PAGE; i++, address -= PAGE)
        m = dwfl_addrmodule(dwfl, address);
    return m;
}

/* The part of a lock in which its waiters sleep says nothing more than the lock. */
static void name_object(Dwfl *dwfl, struct walk *w, uint64_t address)
{
    struct dh_source_variable v = {0};
    const char *file = NULL;
    Dwarf_Addr bias;
    Dwfl_Module *m = module_of_data(dwfl, address);
    if (m && dwfl_module_getelf(m, &bias))
        dwfl_module_info(m, NULL, NULL, NULL, NULL, NULL, &file, NULL);
    if (file && !is_system(file) && dh_symbolize_variable_at(w->symbols, file, address - bias, &v)) {
        const char *inner = strstr(v.name, ".__");
        snprintf(w->object, sizeof w->object, " %.*s", inner ? (int)(inner - v.name) : (int)strlen(v.name), v.name);
    }
    dh_source_variable_release(&v);
}

static void name_waited(Dwfl *dwfl, struct walk *w, const struct dh_wait_call *c)
{
    if (dh_wait_call_is_on_memory(c))
        name_object(dwfl, w, c->arguments[0]);
    else if (dh_wait_call_is_on_descriptor(c))
        snprintf(w->object, sizeof w->object, " descriptor %d", (int)c->arguments[0]);
}

/* ---- who runs ---- */

/* A thread that runs has no registers to be read: it is stopped for that long. False: it ended, or somebody else traces
 * it. `signal` is what it was about to take. */
static bool stop_running(pid_t thread, int *signal)
{
    int status = 0;
    *signal = 0;
    if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) != 0 || ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) != 0)
        return false;
    while (waitpid(thread, &status, __WALL) < 0)
        if (errno != EINTR)
            return false;
    if (WIFSTOPPED(status) && !(status >> 16))
        *signal = WSTOPSIG(status);
    return WIFSTOPPED(status);
}

static void let_run(pid_t thread, int signal)
{
    ptrace(PTRACE_DETACH, thread, NULL, (void *)(intptr_t)signal);
}

static bool read_running(struct thread *t)
{
    struct user_regs_struct r;
    bool ok = ptrace(PTRACE_GETREGS, t->id, NULL, &r) == 0;
    if (ok) {
        t->call = (struct dh_wait_call){.number = -1, .stack = r.rsp, .code = r.rip};
        t->frame = r.rbp;
    }
    return ok;
}

/* ---- one thread ---- */

/* NULL: not known. */
static char *place_of(struct dh_symbolizer *symbols, struct thread *t, char object[OBJECT_MOST])
{
    static const Dwfl_Thread_Callbacks callbacks = {
        .next_thread = only_thread, .memory_read = read_word, .set_initial_registers = set_registers};
    struct walk w = {.symbols = symbols};
    Dwfl *dwfl = open_process(t->process);
    if (dwfl && dwfl_attach_state(dwfl, NULL, t->process, &callbacks, t)) {
        dwfl_getthread_frames(dwfl, t->id, look_at, &w);
        t->frame = !w.place && w.last ? find_frame(t, w.last) : 0;
        if (t->frame)
            dwfl_getthread_frames(dwfl, t->id, look_at, &w);
        name_waited(dwfl, &w, &t->call);
    }
    dwfl_end(dwfl);
    memcpy(object, w.object, OBJECT_MOST);
    return w.place;
}

static char *place_of_running(struct dh_symbolizer *symbols, struct thread *t)
{
    char object[OBJECT_MOST];
    int signal;
    if (!stop_running(t->id, &signal))
        return NULL;
    char *place = read_running(t) ? place_of(symbols, t, object) : NULL;
    let_run(t->id, signal);
    return place;
}

/* ---- all of them ---- */

static void add_place(struct places *p, char *words)
{
    for (size_t i = 0; i < p->at.n; i++)
        if (strcmp(p->at.at[i].words, words) == 0) {
            p->at.at[i].threads++;
            free(words);
            return;
        }
    dh_vec_push(&p->at, (struct place){words, 1});
}

static void name_of(pid_t process, char *out, size_t n)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)process);
    FILE *f = fopen(path, "re");
    if (!f || !fgets(out, (int)n, f))
        snprintf(out, n, "process %d", (int)process);
    out[strcspn(out, "\n")] = 0;
    if (f)
        fclose(f);
}

static void add_thread(struct places *p, struct thread *t, bool is_first)
{
    char name[64], object[OBJECT_MOST] = "";
    bool waits = dh_wait_call_of(t->process, t->id, &t->call);
    char *place = waits ? place_of(p->symbols, t, object) : place_of_running(p->symbols, t);
    name_of(t->process, name, sizeof name);
    const char *call = waits ? dh_wait_call_name(&t->call) : "running", *of = is_first ? "" : " of ";
    add_place(p, place   ? dh_format("at %s (%s%s)%s%s", place, call, object, of, is_first ? "" : name)
                 : waits ? dh_format("in %s%s%s%s", call, object, of, is_first ? "" : name)
                         : dh_format("%s%s%s", call, of, is_first ? "" : name));
    free(place);
}

/* One that waits for its children does what they do. */
static bool waits_for_children(pid_t process, bool has_children)
{
    struct dh_wait_call c;
    return has_children && dh_wait_call_of(process, process, &c) && strncmp(dh_wait_call_name(&c), "wait", 4) == 0;
}

static void add_process(struct places *p, pid_t process, bool is_first, bool has_children)
{
    dh_pids threads = {0};
    dh_threads_of(process, &threads);
    for (size_t i = 0; i < threads.n && !(threads.n == 1 && waits_for_children(process, has_children)); i++)
        if (!dh_thread_is_ours(process, threads.at[i]))
            add_thread(p, &(struct thread){.process = process, .id = threads.at[i]}, is_first);
    dh_vec_release(&threads);
}

static void print(const struct places *p, struct dh_str *out)
{
    for (size_t i = 0; i < p->at.n && i < PLACES_SHOWN; i++) {
        dh_str_add(out, i ? ", " : "");
        if (p->at.at[i].threads > 1)
            dh_str_addf(out, "%u threads ", p->at.at[i].threads);
        dh_str_add(out, p->at.at[i].words);
    }
    if (p->at.n > PLACES_SHOWN)
        dh_str_addf(out, ", and %zu other places", p->at.n - PLACES_SHOWN);
}

void dh_live_places(pid_t of, struct dh_str *out)
{
    dh_pids all = {0};
    struct places p = {.symbols = dh_symbolizer_new()};
    dh_offspring(of, &all);
    for (size_t i = 1; i < all.n; i++)
        add_process(&p, all.at[i], i == 1, i + 1 < all.n);
    print(&p, out);
    for (size_t i = 0; i < p.at.n; i++)
        free(p.at.at[i].words);
    dh_vec_release(&p.at);
    dh_vec_release(&all);
    dh_symbolizer_free(p.symbols);
}
