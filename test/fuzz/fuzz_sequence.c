/* SPDX-License-Identifier: Apache-2.0 */
/* Names of children: a number is found when there is one, and none is made up. */
#include <inttypes.h>

#include "base/path.h"
#include "fuzz.h"

enum { DIGITS = 10, ROOM = 64 };

static const char guid[] = "01234567-89ab-4def-8123-456789abcdef";

static bool ends_with_number(const char *name)
{
    size_t length = strlen(name);
    return length >= DIGITS && strspn(name + length - DIGITS, "0123456789") == DIGITS;
}

/* Behind the last prefix: a minus or not, ten digits, and the end. */
static bool is_all_number(const char *text)
{
    text += *text == '-';
    return strlen(text) == DIGITS && ends_with_number(text);
}

static const char *behind_last(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    for (size_t at = strlen(name) + 1; length > 0 && at-- > 0;) {
        if (strncmp(name + at, prefix, length) == 0) {
            return name + at + length;
        }
    }
    return NULL;
}

/* "x-<id>-N" has no sign there, "__lock__-N" and "x-<id>--N" have one; and so has what is beyond the limit. */
static bool is_signed(const char *name, const char *minus)
{
    return minus == name || minus[-1] == '-' || minus[-1] == '_' ||
           strtoimax(minus + 1, NULL, DIGITS) > ZKR__SEQUENCE_LIMIT;
}

static void check_found(const char *name, const char *behind, int64_t sequence)
{
    size_t length = strlen(name);
    FUZZ_TRUE(imaxabs(sequence) == strtoimax(name + length - DIGITS, NULL, DIGITS));
    const char *minus = length > DIGITS ? name + length - DIGITS - 1 : NULL;
    bool ours = behind && is_all_number(behind);
    bool negative =
        minus && *minus == '-' && (ours ? *behind == '-' : is_signed(name, minus));
    FUZZ_TRUE((sequence < 0) == (negative && sequence != 0));
}

/* What stands in front of a last prefix with its number changes nothing. */
static void check_front(const char *name, const char *prefix)
{
    size_t size = strlen(prefix) + strlen(name) + 8;
    char *longer = malloc(size);
    int64_t one = 0, other = 0;
    FUZZ_TRUE(longer != NULL);
    (void)snprintf(longer, size, "%s-_c_-%s", prefix, name);
    bool has_one = zkr__path_sequence(name, prefix, &one);
    bool has_other = zkr__path_sequence(longer, prefix, &other);
    FUZZ_TRUE(has_one == has_other && one == other);
    free(longer);
}

static bool has_letter(const char *prefix)
{
    return strcspn(prefix, "abcdefghijklmnopqrstuvwxyz") < strlen(prefix);
}

/* Each number that a server can give comes back from the name it makes of ours. */
static void check_round_trip(const char *prefix, int32_t number)
{
    size_t size = ZKR__PROTECTED_LEN + strlen(prefix) + 1;
    char *name = malloc(size + ROOM);
    FUZZ_TRUE(name != NULL);
    zkr__path_protect(name, guid, prefix);
    FUZZ_TRUE(strlen(name) == size - 1);
    (void)snprintf(name + size - 1, ROOM, "%s%010" PRId64, number < 0 ? "-" : "",
                   (int64_t)imaxabs(number));
    int64_t sequence = 0;
    FUZZ_TRUE(zkr__path_sequence(name, prefix, &sequence) || !has_letter(prefix));
    FUZZ_TRUE(sequence == number || !has_letter(prefix));
    free(name);
}

/* A number, a prefix, a line feed, a name. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    int32_t number = (int32_t)(uint32_t)fuzz_number(&in, 4);
    char *prefix = fuzz_field(&in, '\n', NULL);
    char *name = fuzz_field(&in, '\0', NULL);
    int64_t sequence = INT64_MIN;
    const char *behind = behind_last(name, prefix);
    bool found = zkr__path_sequence(name, prefix, &sequence);
    FUZZ_TRUE(found == ends_with_number(name));
    if (found) {
        check_found(name, behind, sequence);
    } else {
        FUZZ_TRUE(sequence == INT64_MIN);
    }
    if (behind && is_all_number(behind)) {
        check_front(name, prefix);
    }
    check_round_trip(prefix, number);
    free(prefix);
    free(name);
    return 0;
}
