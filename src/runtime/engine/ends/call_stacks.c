/* Call stacks of tasks, from the shadow stack that each keeps in its thread-local storage; and where modules lie. */
#include "runtime/engine/engine.h"

#include "runtime/core/frames.h"
#include "runtime/engine/libraries.h"

#include <elf.h>

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

void dh_call_stack_set_images(struct dh_engine_found *f)
{
    uintptr_t start = (uintptr_t)&__ehdr_start;
    f->images[0] = (struct dh_engine_image){start, (uintptr_t)_end, __ehdr_start.e_type == ET_DYN ? start : 0};
    dh_engine_libraries_images(&f->images[1]);
}

/* Is there a call before it? */
static bool follows_call(uintptr_t at)
{
    const unsigned char *code = (const unsigned char *)at;
    if (code[-5] == 0xE8 || (code[-6] == 0xFF && code[-5] == 0x15))
        return true;
    return (code[-2] == 0xFF && (code[-1] & 0x38) == 0x10) || (code[-3] == 0xFF && (code[-2] & 0x38) == 0x10);
}

extern const char etext[] __attribute__((visibility("hidden")));

unsigned dh_call_stack_scan(uintptr_t sp, uint64_t *out, unsigned most)
{
    enum { WORDS = 512 };
    uintptr_t bias = __ehdr_start.e_type == ET_DYN ? (uintptr_t)&__ehdr_start : 0;
    unsigned n = 0;
    for (unsigned i = 0; i < WORDS && n < most; i++) {
        uintptr_t word = dh_access_value_read(sp + i * sizeof word, sizeof word);
        if (word > (uintptr_t)&__ehdr_start + DH_ENGINE_PAGE && word < (uintptr_t)etext && follows_call(word))
            out[n++] = word - bias;
    }
    return n;
}

/* Thread-local storage has one layout, relative to the thread pointer. */
static const struct dh_thread_state *state_of(const struct dh_task *t)
{
    uintptr_t own;
    __asm__("mov %%fs:0, %0" : "=r"(own));
    return (const struct dh_thread_state *)(t->fs + ((uintptr_t)&__dh_thread - own));
}

void dh_call_stack_copy(uint32_t task, uint64_t out[DH_ENGINE_FRAMES])
{
    const struct dh_task *t = &dh_engine->tasks[task];
    uint32_t n = 0;
    if (!t->fs)
        return;
    const struct dh_thread_state *s = state_of(t);
    uint32_t known = s->frames ? dh_frames_known(s) : 0;
    for (uint32_t i = known; i-- > 0 && n < DH_ENGINE_FRAMES;)
        if (s->frames[i].return_address)
            out[n++] = s->frames[i].return_address;
}
