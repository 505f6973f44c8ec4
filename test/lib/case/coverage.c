/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked into the tests of the coverage build only, with --wrap=_exit: a forked process that ends
 * at once says what it has run before it does.
 */
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
void __gcov_dump(void);

_Noreturn void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}
