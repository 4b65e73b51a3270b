/* What annotate.h calls and what programs annotated for ThreadSanitizer call, as the runtime defines them. Layer:
 * public. Any thread. Without deadheat's runtime none of them exists: annotate.h then compiles to nothing. */
#ifndef DEADHEAT_ANNOTATE_ABI_H
#define DEADHEAT_ANNOTATE_ABI_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void __deadheat_intended_race(const volatile void *at, size_t size, const char *reason);
void __deadheat_transfer(const volatile void *at, size_t size);
void __deadheat_accept(const volatile void *at, size_t size);
void __deadheat_assert_held(const volatile void *lock);
void __deadheat_lock_taken(const volatile void *lock, int shared);
void __deadheat_lock_giving(const volatile void *lock);
void __deadheat_ignore_begin(void);
void __deadheat_ignore_end(void);

void __tsan_acquire(void *object);
void __tsan_release(void *object);
void __tsan_mutex_create(void *lock, unsigned flags);
void __tsan_mutex_destroy(void *lock, unsigned flags);
void __tsan_mutex_pre_lock(void *lock, unsigned flags);
void __tsan_mutex_post_lock(void *lock, unsigned flags, int recursion);
int __tsan_mutex_pre_unlock(void *lock, unsigned flags);
void __tsan_mutex_post_unlock(void *lock, unsigned flags);
void __tsan_mutex_pre_signal(void *lock, unsigned flags);
void __tsan_mutex_post_signal(void *lock, unsigned flags);
void __tsan_mutex_pre_divert(void *lock, unsigned flags);
void __tsan_mutex_post_divert(void *lock, unsigned flags);
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __tsan_set_fiber_name(void *fiber, const char *name);

void AnnotateHappensBefore(const char *file, int line, const volatile void *object);
void AnnotateHappensAfter(const char *file, int line, const volatile void *object);
void AnnotateRWLockCreate(const char *file, int line, const volatile void *lock);
void AnnotateRWLockCreateStatic(const char *file, int line, const volatile void *lock);
void AnnotateRWLockDestroy(const char *file, int line, const volatile void *lock);
void AnnotateRWLockAcquired(const char *file, int line, const volatile void *lock, long is_writer);
void AnnotateRWLockReleased(const char *file, int line, const volatile void *lock, long is_writer);
void AnnotateBenignRace(const char *file, int line, const volatile void *at, const char *reason);
void AnnotateBenignRaceSized(const char *file, int line, const volatile void *at, size_t size, const char *reason);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
void AnnotateIgnoreSyncBegin(const char *file, int line);
void AnnotateIgnoreSyncEnd(const char *file, int line);
void AnnotateNewMemory(const char *file, int line, const volatile void *at, size_t size);
void AnnotateThreadName(const char *file, int line, const char *name);
void AnnotateFlushState(const char *file, int line);
void AnnotateEnableRaceDetection(const char *file, int line, int enable);
void AnnotateExpectRace(const char *file, int line, const volatile void *at, const char *reason);
void AnnotateMutexIsUsedAsCondVar(const char *file, int line, const volatile void *lock);
void AnnotateMutexIsNotPHB(const char *file, int line, const volatile void *lock);
void AnnotateCondVarSignal(const char *file, int line, const volatile void *cv);
void AnnotateCondVarSignalAll(const char *file, int line, const volatile void *cv);
void AnnotateCondVarWait(const char *file, int line, const volatile void *cv, const volatile void *lock);
void AnnotatePublishMemoryRange(const char *file, int line, const volatile void *at, size_t size);
void AnnotateUnpublishMemoryRange(const char *file, int line, const volatile void *at, size_t size);
void AnnotatePCQCreate(const char *file, int line, const volatile void *queue);
void AnnotatePCQDestroy(const char *file, int line, const volatile void *queue);
void AnnotatePCQPut(const char *file, int line, const volatile void *queue);
void AnnotatePCQGet(const char *file, int line, const volatile void *queue);
void AnnotateTraceMemory(const char *file, int line, const volatile void *at);
void AnnotateNoOp(const char *file, int line, const volatile void *at);
void WTFAnnotateHappensBefore(const char *file, int line, const volatile void *object);
void WTFAnnotateHappensAfter(const char *file, int line, const volatile void *object);
void WTFAnnotateBenignRaceSized(const char *file, int line, const volatile void *at, size_t size, const char *reason);

#ifdef __cplusplus
}
#endif

#endif
