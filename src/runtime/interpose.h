/* How a function stands before libc's. Layer: runtime. Weak, so that a program's own function of that name comes
 * first; and under the name that a sanitizer linked beside us leaves open for it, should its own weak one win. */
#ifndef DH_RUNTIME_INTERPOSE_H
#define DH_RUNTIME_INTERPOSE_H

/* `dh_interposed_NAME`, defined before, is what programs and libraries reach as NAME. */
#define DH_INTERPOSE(name)                                                                                             \
    extern __typeof__(dh_interposed_##name) __interceptor_##name                                                       \
        __attribute__((alias("dh_interposed_" #name), visibility("default")));                                         \
    extern __typeof__(name) name __attribute__((weak, alias("dh_interposed_" #name), visibility("default")))

#endif
