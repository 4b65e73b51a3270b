/* Feeds arbitrary text to the readers of compiler and linker command lines and of response files. */
#include "driver/arguments.h"
#include "driver/link_line.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t n)
{
    struct dh_str text = {0};
    struct dh_argv words = {0};
    struct dh_err err = {0};
    dh_str_add_n(&text, (const char *)input, n);
    dh_response_split(text.at, &words);
    for (int i = 0; i < words.n; i++)
        if (words.at[i][0] == '@')
            words.at[i][0] = 'a'; /* no files here */
    struct dh_cc_args a;
    dh_cc_args_read(&a, words.n, words.at, &err);
    dh_cc_args_release(&a);
    dh_err_release(&err);
    struct dh_link_line l;
    struct dh_argv again = {0};
    dh_link_line_read(&l, words.n, words.at, &err);
    for (size_t i = 0; i < l.words.n; i++)
        dh_link_word_write(&l.words.at[i], &again);
    dh_link_line_release(&l);
    dh_argv_release(&again);
    dh_argv_release(&words);
    dh_err_release(&err);
    dh_str_release(&text);
    return 0;
}
