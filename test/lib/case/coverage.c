/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked only into the tests of the coverage build, with --wrap=_exit. A forked process that exits at once first
 * records what it has executed.
 */
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
void __gcov_dump(void);

_Noreturn void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}
