/* Keyword tables of the text form. */
#include "model/text_words.h"

#include "model/program.h"

#include <string.h>

const struct dh_text_word dh_text_words_binary[] = {{"add", DH_BIN_ADD},
                                                    {"sub", DH_BIN_SUB},
                                                    {"mul", DH_BIN_MUL},
                                                    {"div", DH_BIN_DIV},
                                                    {"rem", DH_BIN_REM},
                                                    {"shl", DH_BIN_SHL},
                                                    {"shr", DH_BIN_SHR},
                                                    {"and", DH_BIN_AND},
                                                    {"or", DH_BIN_OR},
                                                    {"xor", DH_BIN_XOR},
                                                    {"xchg", DH_BIN_XCHG},
                                                    {"other", DH_BIN_OTHER},
                                                    {0}};
const struct dh_text_word dh_text_words_compare[] = {
    {"eq", DH_CMP_EQ}, {"ne", DH_CMP_NE}, {"lt", DH_CMP_LT},       {"le", DH_CMP_LE},
    {"gt", DH_CMP_GT}, {"ge", DH_CMP_GE}, {"other", DH_CMP_OTHER}, {0}};
const struct dh_text_word dh_text_words_success[] = {
    {"zero", DH_SUCCESS_ZERO}, {"nonzero", DH_SUCCESS_NOT_ZERO}, {"always", DH_SUCCESS_ALWAYS}, {0}};
const struct dh_text_word dh_text_words_order[] = {{"relaxed", DH_ORDER_RELAXED}, {"acquire", DH_ORDER_ACQUIRE},
                                                   {"release", DH_ORDER_RELEASE}, {"acq_rel", DH_ORDER_ACQ_REL},
                                                   {"seq_cst", DH_ORDER_SEQ_CST}, {0}};
const struct dh_text_word dh_text_words_inst_flags[] = {
    {"volatile", DH_INST_VOLATILE}, {"zeroed", DH_INST_ZEROED},  {"timed", DH_INST_TIMED},     {"cast", DH_INST_CAST},
    {"library", DH_INST_LIBRARY},   {"made", DH_INST_SYNTHETIC}, {"bounded", DH_INST_BOUNDED}, {0}};
const struct dh_text_word dh_text_words_function_flags[] = {{"external", DH_FUNCTION_EXTERNAL},
                                                            {"exported", DH_FUNCTION_EXPORTED},
                                                            {"address-taken", DH_FUNCTION_ADDRESS_TAKEN},
                                                            {"variadic", DH_FUNCTION_VARIADIC},
                                                            {"no-check", DH_FUNCTION_NO_CHECK},
                                                            {"twice", DH_FUNCTION_RETURNS_TWICE},
                                                            {"no-return", DH_FUNCTION_NO_RETURN},
                                                            {"construction", DH_FUNCTION_CONSTRUCTION},
                                                            {0}};
const struct dh_text_word dh_text_words_global_flags[] = {
    {"constant", DH_GLOBAL_CONSTANT}, {"tls", DH_GLOBAL_TLS},
    {"external", DH_GLOBAL_EXTERNAL}, {"exported", DH_GLOBAL_EXPORTED},
    {"hidden", DH_GLOBAL_HIDDEN},     {"vtable", DH_GLOBAL_VTABLE},
    {"zero", DH_GLOBAL_ZERO},         {0}};
const struct dh_text_word dh_text_words_kinds[] = {{"d", DH_REG_DATA}, {"w", DH_REG_WIDE}, {"p", DH_REG_POINTER}, {0}};
const struct dh_text_word dh_text_words_roots[] = {{"main", DH_ROOT_MAIN},
                                                   {"constructor", DH_ROOT_CONSTRUCTOR},
                                                   {"destructor", DH_ROOT_DESTRUCTOR},
                                                   {"exit", DH_ROOT_EXIT},
                                                   {"key-destructor", DH_ROOT_KEY_DESTRUCTOR},
                                                   {"signal-handler", DH_ROOT_SIGNAL_HANDLER},
                                                   {"fork-handler", DH_ROOT_FORK_HANDLER},
                                                   {"exported", DH_ROOT_EXPORTED},
                                                   {"timer", DH_ROOT_TIMER},
                                                   {0}};

const char *dh_text_word_of(const struct dh_text_word *table, uint32_t value)
{
    for (; table->word; table++)
        if (table->value == value)
            return table->word;
    return "";
}

bool dh_text_word_find(const struct dh_text_word *table, const char *word, uint32_t *value)
{
    for (; table->word; table++)
        if (strcmp(table->word, word) == 0) {
            *value = table->value;
            return true;
        }
    return false;
}

const struct dh_text_extra *dh_text_extra(unsigned op)
{
    static const struct dh_text_extra binary = {"op", dh_text_words_binary, false},
                                      compare = {"op", dh_text_words_compare, false},
                                      success = {"ok", dh_text_words_success, false},
                                      when = {"when", dh_text_words_roots, false}, count = {"count", NULL, false},
                                      signature = {"signature", NULL, false}, name = {"name", NULL, true};
    static const struct dh_text_extra *const table[DH_I_COUNT] = {
        [DH_I_BINARY] = &binary,      [DH_I_RMW] = &binary,        [DH_I_COMPARE] = &compare,
        [DH_I_INDEX] = &count,        [DH_I_CALL] = &signature,    [DH_I_FOREIGN] = &name,
        [DH_I_REGISTER] = &when,      [DH_I_LOCK] = &success,      [DH_I_RDLOCK] = &success,
        [DH_I_TRYLOCK] = &success,    [DH_I_TRYRDLOCK] = &success, [DH_I_SEM_TRYWAIT] = &success,
        [DH_I_ONCE_ENTER] = &success, [DH_I_SEM_WAIT] = &success,  [DH_I_WAIT] = &success,
        [DH_I_CREATE] = &success,     [DH_I_JOIN] = &success};
    return op < DH_I_COUNT ? table[op] : NULL;
}
