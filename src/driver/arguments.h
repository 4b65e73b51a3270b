/* Reads a clang command line as far as the driver must understand it. Layer: driver.
 * Owns copies of all words. Response files are expanded. */
#ifndef DH_DRIVER_ARGUMENTS_H
#define DH_DRIVER_ARGUMENTS_H

#include "host/err.h"
#include "host/process.h"

#include <stdbool.h>

enum dh_cc_step {
    DH_CC_OTHER,   /* -E, -S, -M, --version, -print-*, no inputs: clang runs alone */
    DH_CC_COMPILE, /* -c */
    DH_CC_LINK     /* compiles what is source and links */
};

struct dh_cc_args {
    struct dh_argv words;   /* for clang, without our own and unwanted options */
    struct dh_argv sources; /* inputs that become objects with bitcode */
    enum dh_cc_step step;
    const char *output; /* of -o, or NULL */
    int n_inputs;
    char level;              /* '0' '1' '2' '3' 's' 'z' */
    bool debug;              /* asks for full debug information itself */
    const char *static_link; /* -static, -static-pie or --static as given; NULL = none */
    bool probe;              /* a check of configure, cmake or meson: plain clang */
    bool no_embed;           /* -fdeadheat-no-embed */
    bool like_tsan;          /* -fdeadheat-like-tsan */
    char *heal;              /* -fdeadheat-heal=: the policy; NULL = none */
    char *plan;              /* -fdeadheat-plan=: degree of sparse instrumentation; NULL = the default */
    bool cxx;
};

bool dh_cc_args_read(struct dh_cc_args *a, int argc, char **argv, struct dh_err *err);
void dh_cc_args_release(struct dh_cc_args *a);
/* Names that configure, cmake and meson give their test programs. */
bool dh_cc_is_configure_check(const char *path);

/* Splits the text of a response file by GNU's quoting rules. */
void dh_response_split(const char *text, struct dh_argv *out);
/* Copies words to `out`, replacing @FILE by the words of FILE, nested ones too. */
bool dh_response_expand(int argc, char *const *argv, struct dh_argv *out, struct dh_err *err);

/* Our own options, each once for parser, help and man page. */
#define DH_CC_OWN_OPTIONS(X)                                                                                           \
    X("-fdeadheat-no-embed", "leave the embedded module out of what is linked: smaller, but no variant can be "        \
                             "derived")                                                                                \
    X("-fdeadheat-heal=POLICY", "a production build: the program with what the policy heals in it, and no checks")     \
    X("-fdeadheat-plan=DEGREE",                                                                                        \
      "how much of what the analysis proves safe is not checked: all (check everything), "                             \
      "conflict-self, conflict, optimized (the usual); ',no-arrays' behind it: no "                                    \
      "elements of arrays; ',no-copies': no copies of functions for contexts in which less need be checked")           \
    X("-fdeadheat-sparse",                                                                                             \
      "leave out the checks of accesses proven safe, as -fdeadheat-plan=optimized; in large programs, too")            \
    X("-fno-deadheat-sparse", "check everything, as -fdeadheat-plan=all")                                              \
    X("-fdeadheat-like-tsan", "let the program think it is built with ThreadSanitizer (__SANITIZE_THREAD__, "          \
                              "__has_feature(thread_sanitizer)), so that annotations guarded by that are compiled in")

#endif
