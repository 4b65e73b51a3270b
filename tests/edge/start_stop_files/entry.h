struct entry {
    const char *name;
    int value;
};
#define ENTRY(n, v)                                                                                                    \
    static const struct entry entry_##n __attribute__((used, retain, section("entries"), aligned(8))) = {#n, v}
