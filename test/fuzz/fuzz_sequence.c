/* SPDX-License-Identifier: Apache-2.0 */
/* Names of children: a number is found exactly if the name has one. */
#include <inttypes.h>

#include "fuzz.h"
#include "queue/names.h"

enum { DIGITS = 10, FRONT = 16 };

static const char guid[] = "01234567-89ab-4def-8123-456789abcdef";

static bool ends_with_number(const char *name)
{
    size_t length = strlen(name);
    return length >= DIGITS && strspn(name + length - DIGITS, "0123456789") == DIGITS;
}

static const char *const prefixes[] = {"lock-", "__READ__", "__WRIT__", "latch-",
                                       "lease-"};

/* Returns the recipe whose prefix ends the first @length bytes. */
static enum zkr__name_kind kind_at(const char *name, size_t length)
{
    size_t kind = 0;
    while (kind < ZKR__NAME_OTHER &&
           !(length >= strlen(prefixes[kind]) &&
             strncmp(name + length - strlen(prefixes[kind]), prefixes[kind],
                     strlen(prefixes[kind])) == 0)) {
        kind++;
    }
    return (enum zkr__name_kind)kind;
}

/*
 * In "x-<id>-N", the minus is not a sign. In "__lock__-N" and "x-<id>--N", it is. It is also a sign before the lowest
 * number, but not before numbers beyond that.
 */
static bool is_signed(const char *name, const char *minus)
{
    intmax_t beyond =
        strtoimax(minus + 1, NULL, DIGITS) - (intmax_t)ZKR__SEQUENCE_LIMIT - 1;
    bool alone = minus == name || minus[-1] == '-' || minus[-1] == '_';
    return beyond == 0 || (beyond < 0 && alone);
}

static void check_found(const char *name, enum zkr__name_kind kind, int64_t sequence)
{
    size_t front = strlen(name) - DIGITS;
    FUZZ_TRUE(imaxabs(sequence) == strtoimax(name + front, NULL, DIGITS));
    enum zkr__name_kind plain = kind_at(name, front);
    const char *minus = front > 0 ? name + front - 1 : NULL;
    bool negative =
        plain == ZKR__NAME_OTHER && minus && *minus == '-' && is_signed(name, minus);
    FUZZ_TRUE((sequence < 0) == (negative && sequence != 0));
    FUZZ_TRUE(kind == (negative ? kind_at(name, front - 1) : plain));
}

/* Text in front of a prefix with its number changes nothing. */
static void check_front(const char *name, enum zkr__name_kind kind, int64_t sequence)
{
    size_t size = strlen(name) + FRONT;
    char *longer = malloc(size);
    int64_t other = 0;
    enum zkr__name_kind other_kind = ZKR__NAME_OTHER;
    FUZZ_TRUE(longer != NULL);
    (void)snprintf(longer, size, "latch-_c_-%s", name);
    FUZZ_TRUE(zkr__name_parse(longer, &other_kind, &other));
    FUZZ_TRUE(other == sequence && other_kind == kind);
    free(longer);
}

/* From a name with any number that a server can append, the parser returns the number and the recipe. */
static void check_round_trip(enum zkr__name_kind made, int32_t number)
{
    char name[ZKR__NAME_ROOM];
    zkr__name_make(name, made, guid);
    size_t length = strlen(name);
    FUZZ_TRUE(length == ZKR__PROTECTED_LEN + strlen(prefixes[made]));
    FUZZ_TRUE(strncmp(name, "_c_", 3) == 0 &&
              strncmp(name + 3, guid, strlen(guid)) == 0);
    int wrote = snprintf(name + length, sizeof(name) - length, "%s%010" PRId64,
                         number < 0 ? "-" : "", (int64_t)imaxabs(number));
    FUZZ_TRUE(wrote > 0 && (size_t)wrote < sizeof(name) - length);
    int64_t sequence = 0;
    enum zkr__name_kind kind = ZKR__NAME_OTHER;
    FUZZ_TRUE(zkr__name_parse(name, &kind, &sequence));
    FUZZ_TRUE(sequence == number && kind == made);
}

/* The input: a number, a recipe, a name. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    int32_t number = (int32_t)(uint32_t)fuzz_number(&in, 4);
    enum zkr__name_kind made =
        (enum zkr__name_kind)(fuzz_byte(&in) % (unsigned)ZKR__NAME_OTHER);
    char *name = fuzz_field(&in, '\0', NULL);
    int64_t sequence = INT64_MIN;
    enum zkr__name_kind kind = ZKR__NAME_OTHER;
    bool found = zkr__name_parse(name, &kind, &sequence);
    FUZZ_TRUE(found == ends_with_number(name));
    if (found) {
        check_found(name, kind, sequence);
    } else {
        FUZZ_TRUE(sequence == INT64_MIN);
    }
    if (found && kind != ZKR__NAME_OTHER) {
        check_front(name, kind, sequence);
    }
    check_round_trip(made, number);
    free(name);
    return 0;
}
