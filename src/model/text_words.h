/* Keywords of the text form, for printing and parsing. Layer: model, for its own files. */
#ifndef DH_MODEL_TEXT_WORDS_H
#define DH_MODEL_TEXT_WORDS_H

#include <stdbool.h>
#include <stdint.h>

struct dh_text_word {
    const char *word;
    uint32_t value;
};

/* Each ends with word == NULL. */
extern const struct dh_text_word dh_text_words_binary[], dh_text_words_compare[], dh_text_words_success[],
    dh_text_words_order[], dh_text_words_inst_flags[], dh_text_words_function_flags[], dh_text_words_global_flags[],
    dh_text_words_kinds[], dh_text_words_roots[];

const char *dh_text_word_of(const struct dh_text_word *table, uint32_t value); /* "" = none */
bool dh_text_word_find(const struct dh_text_word *table, const char *word, uint32_t *value);

/* Meaning and key of `extra` of an instruction; no table: a number. */
struct dh_text_extra {
    const char *key;
    const struct dh_text_word *table;
    bool string;
};
/* NULL: the operation has none. */
const struct dh_text_extra *dh_text_extra(unsigned op);

#endif
