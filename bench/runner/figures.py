# SPDX-License-Identifier: Apache-2.0
"""The figures of a round, computed from its times. Pure functions: no process, no clock.

A round consists of the answers of one peer's drivers. Each answer has the times of its contenders:
asked, granted and released, for each acquire, in nanoseconds of one clock that all processes read.
"""
import collections
import heapq
import statistics

Round = collections.namedtuple("Round", "rate waits handovers counts fairness violations")


class BadAnswer(Exception):
    """A driver violates the contract."""


def at(values, share):
    """Returns the quantile of the values for this share."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def median(values):
    return statistics.median(values) if values else None


def check_answer(answer, contenders):
    """Raises BadAnswer unless the answer fulfils the contract."""
    if not isinstance(answer, dict) or not {"from", "to", "grants"} <= set(answer):
        raise BadAnswer("no from, to and grants")
    if len(answer["grants"]) != contenders:
        raise BadAnswer(f"times of {len(answer['grants'])} contenders, not of {contenders}")
    for times in answer["grants"]:
        if len(times) % 3 != 0 or not all(isinstance(t, int) for t in times):
            raise BadAnswer("times that are not asked, granted, released")
        for i in range(0, len(times), 3):
            if times[i + 2] != 0 and not times[i] <= times[i + 1] <= times[i + 2]:
                raise BadAnswer("granted before it was asked for, or released before granted")
            if i > 0 and times[i] < times[i - 1]:
                raise BadAnswer("asked before the last one was released")


def holds_of(answers, locks):
    """Returns (granted, released, asked, contender) of each hold, ordered, for each lock."""
    by_lock = collections.defaultdict(list)
    number = 0
    for answer in answers:
        for times in answer["grants"]:
            for i in range(0, len(times), 3):
                if times[i + 2]:
                    by_lock[number % locks].append(
                        (times[i + 1], times[i + 2], times[i], number))
            number += 1
    for holds in by_lock.values():
        holds.sort()
    return by_lock


def holds_in(answers):
    """Returns the number of acquires and tries in all answers."""
    return sum(len(times) // 3 for answer in answers for times in answer["grants"])


Rule = collections.namedtuple("Rule", "most weight_of")
MUTEX = Rule(1, lambda number: 1)
# One in eight contenders is a writer, which excludes all others.
READ_WRITE = Rule(1000, lambda number: 1000 if number % 8 == 0 else 1)


def semaphore(permits):
    return Rule(permits, lambda number: 1)


def overlaps(holds, rule=MUTEX):
    """Counts the grants that exceed the rule, because earlier holders had not released yet."""
    count, weight, held = 0, 0, []
    for granted, released, _, number in holds:
        while held and held[0][0] <= granted:
            weight -= heapq.heappop(held)[1]
        heapq.heappush(held, (released, rule.weight_of(number)))
        weight += rule.weight_of(number)
        count += weight > rule.most
    return count


def handovers_of(holds):
    """Returns the times from each release to the next grant, if that contender was already waiting."""
    return [nxt[0] - last[1] for last, nxt in zip(holds, holds[1:]) if nxt[2] <= last[1] <= nxt[0]]


def fairness_of(counts):
    """Returns least / most. The least counts as one more, because its turn may have come at the end."""
    if not counts or max(counts) == 0:
        return None
    return min(1.0, (min(counts) + 1) / max(counts)) if min(counts) else 0.0


def judge(answers, contenders, locks=1, rule=MUTEX):
    """Computes the figures of a round, whose drivers have this many contenders each. No rule: no lock."""
    for answer in answers:
        check_answer(answer, contenders)
    begin = max(answer["from"] for answer in answers)
    end = min(answer["to"] for answer in answers)
    counts, waits = [], []
    for answer in answers:
        for times in answer["grants"]:
            mine = [times[i + 1] - times[i] for i in range(0, len(times), 3)
                    if begin <= times[i + 1] <= end]
            counts.append(len(mine))
            waits += mine
    by_lock = holds_of(answers, locks)
    handovers = [t for holds in by_lock.values() for t in handovers_of(holds)] \
        if rule is MUTEX else []
    violations = sum(overlaps(holds, rule) for holds in by_lock.values()) if rule else 0
    seconds = max(end - begin, 1) / 1e9
    return Round(rate=sum(counts) / seconds, waits=waits, handovers=handovers, counts=counts,
                 fairness=fairness_of(counts) if len(counts) > locks and rule != READ_WRITE else None,
                 violations=violations)
