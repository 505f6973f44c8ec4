/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation. */
#include "unit.h"

/* Memory is zeroed, even if it contained other bytes before. */
ZKT_UNIT_CASE(memory_is_zeroed)
{
    static const char zeros[64];
    for (int i = 0; i < 100; i++) {
        char *p = zkr__mem_alloc(sizeof(zeros));
        assert_non_null(p);
        assert_memory_equal(p, zeros, sizeof(zeros));
        memset(p, 0xaa, sizeof(zeros));
        zkr__mem_free(p);
    }
}

/* A copy contains all bytes, zeros among them, and a zero behind them. */
ZKT_UNIT_CASE(a_copy_ends_with_a_zero)
{
    char *p = zkr__mem_copy("a\0b", 3);
    assert_memory_equal(p, "a\0b", 4);
    zkr__mem_free(p);
    p = zkr__mem_copy(NULL, 0);
    assert_string_equal(p, "");
    zkr__mem_free(p);
    p = zkr__mem_string("text");
    assert_string_equal(p, "text");
    zkr__mem_free(p);
    zkr__mem_free(NULL);
}
