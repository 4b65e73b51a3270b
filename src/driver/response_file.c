/* Response files (@FILE), as gcc, clang and the linkers read them. */
#include "driver/arguments.h"
#include "host/file.h"

#include <ctype.h>
#include <string.h>

enum { MAX_NESTING = 16 };

void dh_response_split(const char *at, struct dh_argv *out)
{
    struct dh_str word = {0};
    while (*at) {
        while (isspace((unsigned char)*at))
            at++;
        if (!*at)
            break;
        dh_str_clear(&word);
        char quote = 0;
        for (; *at && (quote || !isspace((unsigned char)*at)); at++) {
            if (*at == '\\' && at[1] && quote != '\'')
                dh_str_add_n(&word, ++at, 1);
            else if (quote ? *at == quote : *at == '"' || *at == '\'')
                quote = quote ? 0 : *at;
            else
                dh_str_add_n(&word, at, 1);
        }
        dh_argv_add(out, word.at ? word.at : "");
    }
    dh_str_release(&word);
}

static bool expand(int argc, char *const *argv, struct dh_argv *out, int nesting, struct dh_err *err)
{
    for (int i = 0; i < argc; i++) {
        /* A name that cannot be read is an ordinary word, as in gcc. */
        if (argv[i][0] != '@' || !dh_file_exists(argv[i] + 1)) {
            dh_argv_add(out, argv[i]);
            continue;
        }
        if (nesting == MAX_NESTING)
            return dh_err_set(err, "%s: response files nested more than %d deep", argv[i], MAX_NESTING);
        struct dh_bytes b;
        if (!dh_file_read(argv[i] + 1, &b, err))
            return false;
        struct dh_str text = {0};
        dh_str_add_n(&text, (const char *)b.at, b.n);
        struct dh_argv words = {0};
        dh_response_split(text.at, &words);
        bool ok = expand(words.n, words.at, out, nesting + 1, err);
        dh_argv_release(&words);
        dh_str_release(&text);
        dh_bytes_release(&b);
        if (!ok)
            return false;
    }
    return true;
}

bool dh_response_expand(int argc, char *const *argv, struct dh_argv *out, struct dh_err *err)
{
    return expand(argc, argv, out, 0, err);
}
