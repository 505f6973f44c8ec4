#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The lease, proved: in no run that the axioms allow may another hold before the bound of lib/session/lease.c.

lease.py [--quick] [--tell FILE] [--only WORDS]: proves each rule, in all runs. Then it takes away each premise that the rule
needs, makes each figure of the code weaker by a tenth, and breaks the code as the mutants do, and wants a run each time
that refutes the rule. --quick: only proves. --tell: writes each such run as a time line. --only: rules and mutants with
these words.

The code is not copied: c_code.py runs lib/session/lease.c itself, on symbols, in the world of world.py.
"""
import argparse
import contextlib
import io
import multiprocessing
import re
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
try:
    import z3
    from c_code import Paths, Pointer, Program
    from world import AXIOMS, World
except ImportError as missing:
    sys.exit('lease.py: %s; of Debian these are the packages python3-z3 and python3-pycparser, for %s'
             % (missing, sys.executable))

END = z3.Real('end')
ROOT = Path(__file__).resolve().parents[2]
CODE, HEADER = 'lib/session/lease.c', 'lib/session/lease.h'


# --- the code, as it is or changed ---

def source(name):
    """Without the contracts, which say the same again."""
    return re.sub(r'/\*@.*?\*/', '', (ROOT / name).read_text(encoding='utf-8'), flags=re.S)


def edited(text, old, new):
    """As test/mutants/apply.pl does: old is there once, with whatever blanks and line breaks."""
    pattern = r'\s*'.join(re.escape(each) for each in re.findall(r'\w+|[^\w\s]', old))
    if len(re.findall(pattern, text)) != 1:
        raise ValueError('lease.py: not there exactly once: ' + old)
    return re.sub(pattern, lambda _: new, text)


def program(edits=()):
    """edits: (file, old, new)."""
    texts = {name: source(name) for name in ('lib/base/clock.h', HEADER, CODE)}
    for name, old, new in edits:
        texts[name] = edited(texts[name], old, new)
    return Program(*texts.values())


# --- a client with that code in a world ---

class Case:
    def __init__(self, words, tick_known=False, margin=0, stopgap=False):
        self.words, self.tick_known, self.margin, self.stopgap = words, tick_known, margin, stopgap


class Tape:
    """A world, and all that it was asked. All ways through the code ask the same in the same order; only the first
    one makes a world of it."""

    def __init__(self, world):
        self.world, self.answers, self.at, self.records = world, [], 0, True

    def rewind(self):
        self.at, self.records = 0, False

    def __getattr__(self, name):
        def ask(*arguments):
            if self.records:
                self.answers.append(getattr(self.world, name)(*arguments))
            self.at += 1
            return self.answers[self.at - 1]
        return ask


class Run:
    last = None

    def __init__(self, code, case, tape):
        self.code, self.case = code, case
        self.session = z3.Real('S')
        self.ppm = case.margin or 1000
        self.world = tape
        self.least = self.session
        self.fact(self.session > 0)
        self.lease = {'*': code.struct('zkr__lease')}
        self.terms = {'*': code.struct('zkr__lease_terms')}
        self.terms['*'].update(tick=z3.Real('tick') if case.tick_known else 0, margin_ppm=case.margin,
                               no_stopgap=not case.stopgap)
        self.claims = []

    def span(self, session):
        return session - session * self.ppm / 1000000

    def call(self, name, *arguments):
        self.code.call(name, Pointer(self.lease, '*'), *arguments)

    def on(self, moment):
        return self.world.on(moment)

    def fact(self, formula):
        self.world.fact(formula)

    # What the client does, and what it is told.

    def begins(self):
        c = self.world.creation(self.session)
        self.call('zkr__lease_begin', Pointer(self.terms, '*'), self.session, self.on(c.hello))
        self.opened = c.hello
        self.latest = self.on(c.up)
        return c

    def goes_on(self, writes=0):
        """After whatever was before, in which the bound was right: a connection, on which so many writes are
        remembered."""
        _, last, sure = self.world.past(writes == 0)
        granted = z3.Real('timeout of this connection')
        self.fact(granted >= self.session)
        c = self.world.reconnect(granted, last)
        lease = self.lease['*']
        lease.update(terms=dict(self.terms['*']), session=self.session)
        self.call('set_pace')
        lease['until'] = z3.Real('bound before')
        self.fact(z3.And(lease['until'] <= self.on(sure) + self.span(z3.Real('S before') if writes == 0 else self.session),
                         lease['until'] <= self.on(last.sent) + self.span(self.session)))
        self.last, self.latest = last, self.on(c.up)
        for i in range(writes):
            w = self.world.write(c, 'WXYZ'[i])
            self.fact(z3.And(self.last.answered <= w.answered, self.last.sent <= w.sent))
            lease['writes'][i] = {'sent': self.on(w.sent), 'answered': self.on(w.answered)}
            self.last, self.latest = w, self.on(w.answered)
        lease['count'] = writes
        lease['last'] = {'sent': self.on(self.last.sent), 'answered': self.on(self.last.answered)}
        return c

    def writes(self, c, *names):
        for name in names:
            w = self.world.write(c, name)
            if self.last is not None:
                self.fact(self.last.sent <= w.sent)
            if self.case.stopgap:
                self.world.quick(c, w)
            self.call('zkr__lease_answered', self.on(w.sent), self.on(w.answered))
            self.last, self.latest = w, self.on(w.answered)

    def reconnects(self, granted):
        c = self.world.reconnect(granted, self.last)
        told = z3.Real('told %d' % c.number)
        self.fact(told > 0)
        self.world.law('told', told == granted)
        self.world.law('learns', c.up <= c.heard + granted)
        self.claims.append((self.lease['*']['until'], self.latest, c.up))
        self.least = z3.If(granted < self.least, granted, self.least)
        self.call('zkr__lease_reconnected', told)
        self.latest = self.on(c.up)
        return c

    # What must not be: the session ends, another may hold, and the bound is later.

    def over(self):
        self.claims.append((self.lease['*']['until'], self.latest, None))
        self.end_shown = self.on(self.world.over())
        self.last_shown = self.on(self.last.sent if self.last is not None else self.opened)
        self.grounds = self.world.grounds()

    def late(self, by=0):
        return z3.Or(*[z3.And(self.end_shown + by < until, True if followed is None else END < followed)
                       for until, _, followed in self.claims])

    def unfounded(self):
        """What a proof after more writes begins with (goes_on) would not hold."""
        until = self.lease['*']['until']
        ahead = until > self.last_shown + self.span(self.least)
        if self.lease['*']['count'] == 0:
            return z3.Or(ahead, *[until > before for before, _, _ in self.claims[-2:-1]])
        return z3.Or(ahead, z3.Not(z3.Or(*[
            z3.And(until <= shown + self.span(self.least), heard) for shown, heard in self.grounds])))

    def seen(self, by=0):
        """The same, and the client believes it at some moment after the end."""
        return z3.Or(*[z3.And(self.end_shown + by < until, since + by < until,
                              True if followed is None else END < followed)
                       for until, since, followed in self.claims])

    def near(self):
        return z3.And(z3.Not(self.late()), self.end_shown <= self.lease['*']['until'] + self.session / 50)


class Proof:
    """A rule, a case and a program: all ways through the program, and then what z3 says of them."""

    def __init__(self, code, rule, case):
        self.about = '%s, %s; times in ms' % (rule.name, case.words)
        self.ways = []
        self.world = World(z3.Real('S'), case.margin or 1000, z3.Real('tick') if case.tick_known else None)
        tape = Tape(self.world)
        known, solver = 0, z3.SolverFor('QF_LRA')

        def possible(conditions):
            nonlocal known
            if tape.records:
                solver.add(*self.world.facts[known:])
                known = len(self.world.facts)
            return solver.check(*conditions) != z3.unsat

        paths = code.paths = Paths(possible)
        while True:
            run = Run(code, case, tape)
            rule.play(run)
            run.over()
            self.ways.append((list(paths.conditions), run))
            tape.rewind()
            if not paths.after():
                break

    def solve(self, claim, without=(), more=()):
        """A model in which the claim, of some way, holds; None: there is none."""
        solver = z3.SolverFor('QF_LRA')
        solver.add(*self.world.facts, *more)
        solver.add(*[law for name, law in self.world.laws.items() if name not in without])
        solver.add(z3.Or(*[z3.And(*conditions, claim(run)) for conditions, run in self.ways]))
        answer = solver.check()
        if answer == z3.unknown:
            raise RuntimeError('lease.py: z3 gives up: ' + solver.reason_unknown())
        return solver.model() if answer == z3.sat else None

    def refutation(self, without=()):
        """A run of ten seconds a session, the bound late by a good part of it if that can be."""
        more = [z3.Real('S') == 10000]
        for part in (20, 200, 20000):
            model = self.solve(lambda run, late=10000 / part: run.seen(late), without, more)
            if model:
                return model
        return None


# --- the rules: what the client has done when it is sure ---

def opening(run):
    run.begins()


def three_writes(run):
    run.writes(run.goes_on(), 'A', 'B', 'C')


def one_write(run):
    run.writes(run.goes_on(), 'A')


def reconnection(run):
    run.goes_on()
    run.writes(run.reconnects(run.session), 'A')


def handshake(run):
    run.goes_on()
    run.reconnects(run.session)


def growth(run):
    longer = z3.Real('longer')
    run.fact(longer > run.session)
    run.begins()
    run.writes(run.reconnects(longer), 'A', 'B', 'C')


def shrinking(run):
    shorter = z3.Real('shorter')
    run.fact(z3.And(0 < shorter, shorter < run.session))
    run.goes_on()
    run.reconnects(shorter)


def shrinking_and_back(run):
    shorter, back = z3.Real('shorter'), z3.Real('back')
    run.fact(z3.And(0 < shorter, shorter < run.session, shorter < back, back <= run.session))
    run.begins()
    run.reconnects(shorter)
    run.writes(run.reconnects(back), 'A', 'B', 'C')


def leader_changes(run):
    c = run.goes_on()
    run.writes(c, 'A', 'B', 'C')
    run.fact(run.world.end_leader() > c.leader)


def observer(run):
    c = run.goes_on()
    run.writes(c, 'A', 'B', 'C')
    run.fact(z3.Not(c.at_leader))


def second_write(run):
    run.writes(run.goes_on(writes=1), 'A')


def third_write(run):
    run.writes(run.goes_on(writes=2), 'A')


def any_write(run):
    run.writes(run.goes_on(writes=3), 'A')


UNKNOWN, KNOWN = Case('tick unknown'), Case('tick known', tick_known=True)
AT_ONCE = [Case('tick unknown', stopgap=True), Case('tick known', tick_known=True, stopgap=True)]
WIDE = [Case('margin 3 %', True, 30000), Case('margin 40 %', False, 400000)]

LEMMA = 'expiry inside settings quorum alive rates'
ANEW = ' one-leader reconnect handshake'
CHAIN = LEMMA + ' down up pings names direct two-ticks same-tick'


class Rule:
    """needs: premises without any of which the rule is refuted; (in brackets): one of which may go, not all."""

    def __init__(self, name, play, cases, needs, figures):
        self.name, self.play, self.cases = name, play, cases
        self.uses = {each.replace('-', ' ').strip('()') for each in needs.split()}
        self.needs = {each.replace('-', ' ') for each in needs.split() if each[0] != '('}
        self.figures = figures.split()


RULES = [
    Rule('a session begins', opening, [UNKNOWN] + WIDE, 'expiry inside settings quorum rates', 'S margin asked'),
    Rule('three writes', three_writes, [UNKNOWN, KNOWN] + WIDE, CHAIN + ANEW,
         'S margin asked half-tick late-ping no-tick fast-clock'),
    Rule('one write and the stopgap', one_write, AT_ONCE, LEMMA + ANEW + ' two-ticks same-tick idle prompt',
         'S margin half-tick late-ping no-tick third twelfth'),
    Rule('a re-connection', reconnection, [UNKNOWN] + WIDE, LEMMA + ANEW, 'S margin asked'),
    Rule('a handshake and no write', handshake, [UNKNOWN], LEMMA + ' reconnect', ''),
    Rule('the timeout grows', growth, [UNKNOWN, KNOWN], CHAIN + ' told', 'S margin half-tick late-ping no-tick'),
    Rule('the timeout shrinks', shrinking, [UNKNOWN, KNOWN], LEMMA + ' reconnect told learns', 'S margin'),
    Rule('it shrinks, and comes back', shrinking_and_back, [UNKNOWN, KNOWN], CHAIN + ' told',
         'S margin half-tick late-ping no-tick'),
    Rule('the leader changes', leader_changes, [UNKNOWN, KNOWN], 'expiry inside settings quorum rates one-leader', 'S margin'),
    Rule('an observer', observer, [UNKNOWN, KNOWN], CHAIN + ANEW, 'S margin half-tick late-ping no-tick'),
    Rule('a second write', second_write, AT_ONCE, LEMMA + ' one-leader handshake two-ticks same-tick idle prompt', ''),
    Rule('a third write', third_write, AT_ONCE, CHAIN + ' one-leader handshake idle prompt', ''),
    Rule('any write after three others', any_write, AT_ONCE + WIDE,
         CHAIN + ' one-leader handshake idle prompt',
         'S margin asked half-tick late-ping no-tick third twelfth fast-clock'),
]

# Each figure of the code that a bound depends on: as it stands there, and weaker by a tenth.
ASKED = ('asked', 'fast-clock')
FIGURES = {
    'S': ('how long a session lives', 'return l->session - l->session', 'return l->session * 11 / 10 - l->session'),
    'margin': ('the usual margin for clocks', 'MARGIN_PPM = 1000', 'MARGIN_PPM = 900'),
    'asked': ('a margin that was asked for', '? l->terms.margin_ppm :', '? l->terms.margin_ppm * 9 / 10 :'),
    'half-tick': ('half a tick of the gap', 'tick / 2 + tick / 32', 'tick * 9 / 20 + tick / 32'),
    'late-ping': ('the bit of the gap for late pings', 'tick / 2 + tick / 32', 'tick / 2 + tick * 9 / 320'),
    'no-tick': ('the tick where it is unknown', 'tick : l->session / 2;', 'tick : l->session * 9 / 20;'),
    'fast-clock': ('the gap for a clock that is fast', '(margin(l) > MARGIN_PPM ? margin(l) : 0)',
                   '(margin(l) > MARGIN_PPM ? margin(l) * 9 / 10 : 0)'),
    'third': ('how long the client may have been idle', 'sent - l->session / 3', 'sent - l->session * 9 / 30'),
    'twelfth': ('what counts as at once', 'answered - sent <= l->session / 12) {',
                'answered - sent <= l->session * 11 / 120) {'),
}


# --- the pace: how slowly servers may answer ---

SLOW = 'the pace'
SLOWEST = z3.Q(1, 8)  # of S: what the manual says


def contract(code):
    """When the next probe is sent at the latest, for rings of up to four writes: as lease.c says of zkr__lease_probe_at(). None,
    or a model in which it is later."""
    for count in range(1, 5):
        session, pause = z3.Real('S'), z3.Real('pause')
        lease = {'*': code.struct('zkr__lease')}
        moments = [(z3.Real('sent %d' % i), z3.Real('answered %d' % i)) for i in range(count)]
        facts = [session > 0, pause > 0] + [z3.And(0 < sent, sent <= answered) for sent, answered in moments]
        facts += [z3.And(before[0] <= after[0], before[1] <= after[1]) for before, after in zip(moments, moments[1:])]
        lease['*'].update(session=session, gap=z3.Real('gap'), pause=pause, until=z3.Real('until'), count=count)
        for i, (sent, answered) in enumerate(moments):
            lease['*']['writes'][i] = {'sent': sent, 'answered': answered}
        sent, answered = moments[-1]
        lease['*']['last'] = {'sent': sent, 'answered': answered}
        solver = z3.SolverFor('QF_LRA')
        solver.add(*facts)
        paths = code.paths = Paths(lambda conditions: solver.check(*conditions) != z3.unsat)
        while True:
            at = code.call('zkr__lease_probe_at', Pointer(lease, '*'))
            allowed = latest(sent, answered, lease['*']['until'], session, pause)
            if solver.check(*paths.conditions, number(at) > allowed) != z3.unsat:
                return solver.model()
            if not paths.after():
                break
    return None


def number(value):
    return z3.RealVal(value) if isinstance(value, int) else value


def sooner(one, other):
    return z3.If(one < other, one, other)


def later(one, other):
    return z3.If(one > other, one, other)


def latest(sent, answered, until, session, pause):
    return pause / 3 + later(answered, sooner(sent + pause, later(until - session / 3, sent + session / 32)))


def too_slow(slowest, parts):
    """With S = 1 and a pause that is one of @parts parts of the gap, or less: a run in which the bound passes although each write is
    answered within @slowest. None: there is none.

    The bound rests on A. The write after A, called N, is the A of some later chain. X is the last that is sent before the B of
    that chain may be; it may be N. What the C of that chain proves comes in time."""
    gap, pause, until = z3.Real('gap'), z3.Real('pause'), 1 - z3.Q(1, 1000)
    solver = z3.SolverFor('QF_LRA')
    solver.add(0 < gap, gap <= z3.Q(17, 64), 0 < pause, pause * parts <= gap)  # set_pace(), for any tick: S/12 is wanted
    solver.add(gap * 12 <= parts + z3.Q(1, 2), z3.Or(parts == 1, gap * 12 >= parts - z3.Q(1, 2)))
    sent = {name: z3.Real('%s sent' % name) for name in 'ANXBC'}
    answered = {name: z3.Real('%s answered' % name) for name in 'ANXBC'}
    for name in 'ANXBC':
        solver.add(sent[name] <= answered[name], answered[name] <= sent[name] + slowest)
    for before, after in ('AN', 'XB', 'BC'):
        solver.add(answered[before] <= sent[after])
        solver.add(sent[after] <= latest(sent[before], answered[before], until, 1, pause))
    solver.add(sent['A'] == 0, sent['N'] <= sent['X'], answered['N'] <= answered['X'])
    solver.add(sent['X'] < answered['N'] + gap, answered['N'] + gap <= sent['B'])
    solver.add(answered['C'] >= until)
    return solver.model() if solver.check() == z3.sat else None


def examine_pace(report, quick):
    kept = [too_slow(SLOWEST, parts) for parts in (1, 2, 3)]
    if contract(program()) or any(kept):
        report.fault('REFUTED', SLOW, 'answers that take an eighth of S')
        return
    report.count('proved')
    report.line('proved', SLOW, 'with answers that take an eighth of S at most the bound is renewed before it passes')
    if not quick and not any(too_slow(SLOWEST * 11 / 10, parts) for parts in (1, 2, 3)):
        report.fault('SURVIVES', SLOW, 'a tenth more')


# --- a run in words ---

class Story:
    def __init__(self, world, run, model):
        self.world, self.run, self.model = world, run, model

    def number(self, term):
        value = self.model.eval(term, model_completion=True)
        return value.as_fraction() if z3.is_rational_value(value) else value

    def holds(self, term):
        return z3.is_true(self.model.eval(term, model_completion=True))

    def who(self, where):
        if where == 'client':
            return where
        if where[0] == 'leader':
            return 'leader %d' % self.number(where[1])
        return '' if self.holds(where[2]) else 'server %d' % where[1]

    def tell(self, out):
        end, shown, lines = self.number(END), self.number(self.run.end_shown), []
        for n, e in enumerate(self.world.events):
            at = self.number(e.time)
            if (e.when is None or self.holds(e.when)) and (at <= end or e.where == 'client'):
                words = e.words % ('%.1f' % self.number(e.value)) if e.value is not None else e.words
                if self.who(e.where):  # a server that is the leader does what the leader does
                    lines.append((at, n, self.who(e.where), words))
        for until, _, followed in self.run.claims:
            late = self.number(until) - shown
            if late > 0 and (followed is None or end < self.number(followed)):
                at = end if followed is not None else max(each[0] for each in lines)
                lines.append((at, len(lines) + 100, 'client',
                              'is SURE still, until its clock shows %.1f more than at the end' % late))
                break
        first = min(lines)[0]
        for at, _, who, words in sorted(lines):
            print('    %10.1f  %-10s %s' % (at - first, who, words), file=out)


# --- what is wanted ---

class Report:
    def __init__(self):
        self.faults, self.counts, self.stories = 0, {}, io.StringIO()

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def line(self, verdict, what, more=''):
        print('  %-9s %-34s %s' % (verdict, what, more), flush=True)

    def fault(self, verdict, what, more=''):
        self.faults += 1
        self.line(verdict, what, more)

    def story(self, proof, model, out=None):
        for conditions, run in proof.ways:
            if all(z3.is_true(model.eval(each, model_completion=True)) for each in conditions):
                Story(proof.world, run, model).tell(out or sys.stdout)
                return

    def refuted(self, what, words, proofs, without=()):
        """True, and told, if one of the proofs fails so."""
        for proof in proofs:
            model = proof.refutation(without)
            if model:
                self.count('refuted')
                print('\n%s\n  %s: %s' % (proof.about, what, words), file=self.stories)
                self.story(proof, model, self.stories)
                return True
        return False


def prove(report, rule):
    """Without the premises that it is not said to need."""
    proofs, began, others = [], time.process_time(), [name for name in AXIOMS if name not in rule.uses]
    for case in rule.cases:
        proof = Proof(program(), rule, case)
        proofs.append(proof)
        model = proof.solve(Run.late, others)
        gap = None if model else proof.solve(Run.unfounded)
        if model:
            report.fault('REFUTED', rule.name, case.words)
            report.story(proof, model)
        elif gap:
            report.fault('NO GROUND', rule.name, case.words + ': a proof of what may follow would begin with less')
            report.story(proof, gap)
        elif not proof.solve(Run.near):
            report.fault('TOO WEAK', rule.name, case.words + ': the bound is never within S/50 of the end')
        else:
            report.count('proved')
    if not report.faults:
        report.line('proved', rule.name, '%s; %d ways through the code, %.1f s' % (
            ', '.join(case.words for case in rule.cases), sum(len(proof.ways) for proof in proofs),
            time.process_time() - began))
    return proofs


def take_premises_away(report, rule, proofs):
    for name in AXIOMS:
        if name in rule.needs and not report.refuted('without: ' + name, AXIOMS[name], proofs, [name]):
            report.fault('SURVIVES', rule.name, 'without the premise %s: %s' % (name, AXIOMS[name]))
    report.line('needs', '', ', '.join(name if name in rule.needs else '(%s)' % name for name in AXIOMS if name in rule.uses))


def weaken_figures(report, rule):
    for name in rule.figures:
        words, old, new = FIGURES[name]
        code = program([(CODE, old, new)])
        cases = [case for case in rule.cases if (case.margin > 0) == (name in ASKED)]
        if not report.refuted('weaker by a tenth: ' + name, words, (Proof(code, rule, case) for case in cases)):
            report.fault('SURVIVES', rule.name, 'a tenth of ' + words)
    if rule.figures:
        report.line('figures', '', ', '.join(FIGURES[name][0] for name in rule.figures))


class Mutant:
    """Of test/mutants. A line "# proof RULE" names the rule here that it breaks; "# proof premise NAME" a premise;
    "# proof contract" is for code.sh. Others are about claims."""

    def __init__(self, text):
        self.name, self.words = re.match(r'(\S+)\n# (.*)\n', text).groups()
        self.proofs = re.findall(r'^# proof (.*)$', text, re.M)
        self.edits = re.findall(r'^@@ (\S+)\n<<<<\n(.*?)\n====\n(.*?)\n?>>>>\n', text, re.M | re.S)
        self.of_lease = any(name == CODE for name, _, _ in self.edits)


def mutants(only):
    texts = [path.read_text(encoding='utf-8') for path in (ROOT / 'test/mutants').glob('*.mutants')]
    every = [Mutant(each) for text in texts for each in re.split(r'^== ', text, flags=re.M)[1:]]
    every.sort(key=lambda mutant: mutant.name)
    return [(mutant, where) for mutant in every for where in mutant.proofs
            if only in mutant.name and (mutant.of_lease or where.startswith('premise ')) and where != 'contract']


def break_code(report, mutant, where):
    rules = [rule for rule in RULES if rule.name == where]
    if where.startswith('premise '):
        name = where[len('premise '):]
        if any(name in rule.needs for rule in RULES):
            report.line('premise', mutant.name, '%s: %s' % (name, mutant.words))
        else:
            report.fault('SURVIVES', mutant.name, 'no rule needs the premise ' + name)
    elif where == SLOW:
        if contract(program(mutant.edits)):
            report.line('refuted', mutant.name, '%s: %s' % (where, mutant.words))
        else:
            report.fault('SURVIVES', mutant.name, where)
    elif rules:
        code = program(mutant.edits)
        if report.refuted(mutant.name, mutant.words, (Proof(code, rules[0], case) for case in rules[0].cases)):
            report.line('refuted', mutant.name, '%s: %s' % (where, mutant.words))
        else:
            report.fault('SURVIVES', mutant.name, where)
    else:
        report.fault('UNKNOWN', mutant.name, 'there is no rule called ' + where)


def examine(report, rule, quick):
    proofs = prove(report, rule)
    if not quick:
        take_premises_away(report, rule, proofs)
        weaken_figures(report, rule)


def work(job):
    """In a process of its own: what is said, and the counts."""
    said, report = io.StringIO(), Report()
    with contextlib.redirect_stdout(said):
        job[0](report, *job[1:])
    return said.getvalue(), report.stories.getvalue(), report.faults, report.counts


def undocumented():
    page = source('test/proof/README.md')
    return [name for name in AXIOMS if '| `%s` |' % name not in page]


def main():
    parser = argparse.ArgumentParser(description='Proves the bound of the lease.')
    parser.add_argument('--quick', action='store_true', help='only prove the rules')
    parser.add_argument('--tell', metavar='FILE', help='write there each run that refutes something')
    parser.add_argument('--only', default='', metavar='WORDS', help='rules and mutants with these words')
    arguments = parser.parse_args()
    jobs = [(examine, rule, arguments.quick) for rule in RULES if arguments.only in rule.name]
    if arguments.only in SLOW:
        jobs.append((examine_pace, arguments.quick))
    if not arguments.quick:
        jobs += [(break_code, *job) for job in mutants(arguments.only)]
    began, faults, counts, stories = time.monotonic(), 0, {}, []
    for name in undocumented():
        print('  NOT SAID  test/proof/README.md has no source of the premise ' + name)
        faults += 1
    print('==> the lease, in all runs that the axioms allow: ' + CODE, flush=True)
    with multiprocessing.Pool() as pool:
        for said, told, more, counted in pool.imap(work, jobs):
            print(said, end='', flush=True)
            stories.append(told)
            faults += more
            for what, n in counted.items():
                counts[what] = counts.get(what, 0) + n
    if arguments.tell:
        Path(arguments.tell).write_text(''.join(stories), encoding='utf-8')
    found = '' if arguments.quick else ('; %d runs found without a premise, with a weaker figure, or with a fault of the '
                                        'code' % counts.get('refuted', 0))
    print('==> %d cases proved%s; %d not as wanted; %.0f s' % (counts.get('proved', 0), found, faults,
                                                              time.monotonic() - began))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
