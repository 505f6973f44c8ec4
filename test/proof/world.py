# SPDX-License-Identifier: Apache-2.0
"""What servers, network and clocks may do to one session: all runs that the axioms allow, as formulas.

README.md has the axioms with their sources. Each can be taken away by its name. Times are real numbers in nanoseconds
of the servers' clocks; on() is what the client's clock shows then.
"""
import z3

AXIOMS = {
    'down': 'what a leader sends to one server arrives in its order, pings as well as commits',
    'up': 'what a server sends to its leader arrives in its order, answers to pings as well as requests',
    'pings': 'a leader pings each server again after half a tick, and 3 % of a tick at most',
    'names': 'a server names in its answer to a ping all sessions it has heard of since the answer before',
    'direct': 'the server is the leader, or one that the leader itself pings',
    'expiry': 'a leader ends no session before the time it has set last',
    'inside': 'nobody else ends the session',
    'settings': 'a leader sets that time to now + the timeout of the connection by which it hears of the session, '
                'or, as it becomes the leader, to now + the timeout of the creation',
    'quorum': 'a write that was answered with success was proposed before any later leader began',
    'alive': 'a write that was answered with success was proposed before the session was ended',
    'one leader': 'all writes of a connection are taken by the leader that answered its handshake',
    'handshake': 'a server answers a handshake only after its leader has',
    'reconnect': 'the client reads all answers of a connection before it sends the next handshake',
    'two ticks': 'each timeout that is granted is two ticks or more',
    'same tick': 'the tick of the leader is the tick that the client was told',
    'rates': 'the clocks of client and servers differ in rate by at most the margin',
    'told': 'the client counts with a timeout no longer than the shortest that was granted',
    'learns': 'the client learns of a shorter timeout before that could have run out',
    'idle': 'while the client is idle, something is sent at least every S/3',
    'prompt': 'if a write is answered within S/12, the leader had already heard of all that was sent half a tick and '
              '1/32 of a tick before it',
}
LATENESS = 0.03  # of a tick, by which a ping may be late
LEADERS = 3  # one that may be stale, the one that matters, the next


class Event:
    def __init__(self, time, where, words, when, value):
        self.time, self.where, self.words, self.when, self.value = time, where, words, when, value


class Write:
    pass


class Connection:
    pass


class World:
    def __init__(self, session, margin_ppm, tick=None):
        self.session, self.margin_ppm = session, margin_ppm
        self.facts, self.events, self.settings, self.clock = [], [], [], []
        self.laws = {name: z3.Bool('axiom ' + name) for name in AXIOMS}
        self.connections, self.writes, self.taken = [], [], []
        self.leaders_tick = z3.Real('tick of the leader')
        self.fact(self.leaders_tick > 0)
        if tick is not None:
            self.law('same tick', self.leaders_tick == tick)
        self.law('two ticks', session >= 2 * self.leaders_tick)
        self.starts = [z3.Real('start %d' % i) for i in range(LEADERS)]
        for sooner, later in zip(self.starts, self.starts[1:]):
            self.fact(sooner < later)
        for i in range(1, LEADERS):
            self.events.append(Event(self.starts[i], ('leader', z3.RealVal(i)), 'begins', None, None))

    def fact(self, formula):
        self.facts.append(formula)

    def law(self, name, formula):
        """An axiom of this name, or of all these names at once."""
        names = (name,) if isinstance(name, str) else name
        self.facts.append(z3.Implies(z3.And(*[self.laws[each] for each in names]), formula))

    def event(self, name, where, words, when=None, value=None):
        """where: who it happens to; when: if at all; value: a time that the words say."""
        time = z3.Real(name)
        self.events.append(Event(time, where, words, when, value))
        return time

    def on(self, time):
        """What the client's clock shows then."""
        shown = z3.Real('clock at ' + str(time))
        if any(known.eq(time) for known, _ in self.clock):
            return shown
        ppm = self.margin_ppm
        for other, there in self.clock:
            apart, shows = time - other, shown - there
            slow, fast = (1000000 - ppm) * apart, (1000000 + ppm) * apart
            self.law('rates', z3.If(apart >= 0, z3.And(slow <= 1000000 * shows, 1000000 * shows <= fast),
                                    z3.And(fast <= 1000000 * shows, 1000000 * shows <= slow)))
            self.fact(z3.If(apart >= 0, shows >= 0, shows <= 0))
        self.fact(shown > 0)
        self.clock.append((time, shown))
        return shown

    def leader(self, name):
        k = z3.Real(name)
        self.fact(z3.Or(*[k == i for i in range(LEADERS)]))
        return k

    def start(self, k):
        start = self.starts[0]
        for i in range(1, LEADERS):
            start = z3.If(k == i, self.starts[i], start)
        return start

    def sets(self, k, time, timeout, happens=True):
        """The leader k hears of the session then, by a connection of this timeout."""
        self.settings.append((k, time, timeout, z3.BoolVal(True) if happens is True else happens))

    # --- what can have been before ---

    def creation(self, granted):
        """The session was created on a connection that was opened then."""
        c = self.connection(granted)
        self.granted_first = granted
        c.hello = self.event('opened', 'client', 'asks for a session')
        c.heard = self.event('creation', ('leader', c.leader), 'creates the session, for %s', value=granted)
        c.up = self.event('up', 'client', 'is connected')
        self.fact(c.hello <= c.heard)
        self.law('handshake', c.heard <= c.up)
        self.fact(c.hello <= c.up)
        self.fact(c.leader == 0)
        self.fact(self.starts[0] <= c.heard)
        self.law('quorum', self.starts[1] >= c.heard)
        self.law('alive', z3.Implies(self.end_leader() == 0, self.end() >= c.heard))
        self.sets(c.leader, c.heard, granted)
        return c

    def past(self, fresh):
        """Any connections and writes. The bound rests on something that a leader heard when the smallest timeout was
        self.before. If none is answered yet on the present connection (@fresh), the session timeout may have become
        shorter since, by handshakes after the last answer."""
        self.before = z3.Real('S before') if fresh else self.session
        self.granted_first = z3.Real('timeout at the creation')
        granted = z3.Real('timeout of an earlier connection')
        self.fact(z3.And(self.before >= self.session, self.granted_first >= self.before, granted >= self.before))
        c = self.connection(granted)
        c.hello = None
        w = Write()
        w.name, w.leader = 'last', c.leader
        w.sent = self.event('sent last', 'client', 'sends the last write that was answered before')
        w.answered = self.event('answered last', 'client', 'reads that answer')
        sure = self.event('sure', 'client', 'sent what the bound counts from')
        heard = self.event('heard', ('leader', c.leader), 'hears of the session by it')
        taken = self.event('taken', ('leader', c.leader), 'takes a write, later on')
        self.fact(z3.And(sure <= heard, heard <= taken, sure <= w.sent, w.sent <= w.answered))
        self.sets(c.leader, heard, granted)
        self.was_taken(c.leader, taken)
        self.last = w
        return c, w, sure

    # --- connections and writes ---

    def connection(self, granted):
        c = Connection()
        n = c.number = len(self.connections)
        c.granted, c.writes = granted, []
        c.leader = self.leader('leader of connection %d' % n)
        c.at_leader = z3.Bool('connection %d is to the leader' % n)
        c.server = ('server', n, c.at_leader)
        self.law('two ticks', granted >= 2 * self.leaders_tick)
        self.connections.append(c)
        return c

    def reconnect(self, granted, last):
        """After the answer to the write @last, or after the creation if that is None."""
        before = self.connections[-1]
        c = self.connection(granted)
        n = c.number
        c.hello = self.event('hello %d' % n, 'client', 'sends a handshake, of connection %d' % n)
        c.heard = self.event('heard hello %d' % n, ('leader', c.leader), 'hears of it, and gives the session %s from now',
                             value=granted)
        c.up = self.event('up %d' % n, 'client', 'is connected: %s are granted', value=granted)
        self.law('handshake', c.heard <= c.up)
        self.fact(z3.And(c.hello <= c.heard, c.hello <= c.up, self.start(c.leader) <= c.heard))
        if before.hello is not None:
            self.fact(before.up <= c.hello)
        if last is not None:
            self.law('reconnect', last.answered <= c.hello)
        self.sets(c.leader, c.heard, granted)
        return c

    def was_taken(self, k, time):
        """A write that was answered with success: @k was the leader as it took it, and the session was alive."""
        for later in range(1, LEADERS):
            self.law('quorum', z3.Implies(k < later, self.starts[later] >= time))
        self.fact(self.start(k) <= time)
        self.taken.append((k, time))
        ended = self.end_leader()
        self.law('alive', z3.Or(ended > k, z3.And(ended == k, self.end() >= time)))

    def write(self, c, name):
        w = Write()
        w.name = name
        w.sent = self.event('sent ' + name, 'client', 'sends %s' % name)
        w.touch = self.event('touch ' + name, c.server, 'gets %s' % name)
        w.passed = self.event('passed ' + name, c.server, 'passes %s on to its leader' % name)
        w.leader = self.leader('leader of ' + name)
        w.taken = self.event('taken ' + name, ('leader', w.leader), 'takes %s, and proposes it' % name)
        w.commit = self.event('commit ' + name, ('leader', w.leader), 'has %s committed, and says so' % name)
        w.told = self.event('told ' + name, c.server, 'hears that %s is committed, and answers it' % name)
        w.answered = self.event('answered ' + name, 'client', 'reads the answer to %s' % name)
        way = [w.sent, w.touch, w.passed, w.taken, w.commit, w.told, w.answered]
        self.fact(z3.And(*[sooner <= later for sooner, later in zip(way, way[1:])]))
        self.fact(z3.Implies(c.at_leader, z3.And(w.touch == w.taken, w.commit == w.told)))
        if c.hello is not None:
            self.fact(c.up <= w.sent)
        self.law('one leader', w.leader == c.leader)
        self.was_taken(w.leader, w.taken)
        for before in c.writes:  # in the order of one connection
            self.fact(z3.And(before.sent <= w.sent, before.taken <= w.taken, before.commit <= w.commit,
                             before.told <= w.told, before.answered <= w.answered, before.passed <= w.passed,
                             before.touch <= w.touch))
        self.sets(w.leader, w.taken, c.granted, c.at_leader)
        c.writes.append(w)
        self.writes.append((c, w))
        return w

    def pings(self):
        """The first ping after each commit, and what becomes of it."""
        for c, w in self.writes:
            behind = z3.Not(c.at_leader)
            w.gets = z3.Bool('the ping after %s arrives' % w.name)
            w.heard = z3.Bool('the leader hears of ' + w.name)
            w.ping = self.event('ping after ' + w.name, ('leader', w.leader), 'pings', behind)
            w.pinged = self.event('pinged after ' + w.name, c.server, 'gets the ping',
                                  z3.And(behind, w.gets))
            w.named = self.event('named ' + w.name, c.server, 'answers a ping, and names the session',
                                 z3.And(behind, w.heard))
            w.hears = self.event('hears of ' + w.name, ('leader', w.leader),
                                 'reads that answer, and gives the session %s from now',
                                 z3.And(behind, w.heard), c.granted)
            self.fact(z3.And(w.commit <= w.ping, w.ping <= w.pinged, w.touch <= w.named, w.named <= w.hears))
            self.law('pings', w.ping <= w.commit + (0.5 + LATENESS) * self.leaders_tick)
            self.law(('names', 'direct'), z3.Implies(z3.And(behind, w.gets), w.named <= w.pinged))
            self.sets(w.leader, w.hears, c.granted, z3.And(behind, w.heard))
            for other in c.writes:
                self.law('down', z3.Implies(z3.And(behind, w.ping < other.commit),
                                            z3.And(w.gets, w.pinged <= other.told)))
                self.law(('up', 'names', 'direct'),
                         z3.Implies(z3.And(behind, w.gets, w.named <= other.passed),
                                    z3.And(w.heard, w.hears <= other.taken)))

    def quick(self, c, w):
        """What the stopgap leans on: before a write that is answered at once the leader has heard of us."""
        s, shown = self.session, self.on(w.sent)
        delay = (0.5 + 1 / 32) * self.leaders_tick
        happens = z3.Bool('something was heard before ' + w.name)
        sent = self.event('sent before ' + w.name, 'client', 'sends something, a ping for instance')
        hears = self.event('hears before ' + w.name, ('leader', w.leader), 'has heard of that', happens)
        at = self.on(sent)
        young = self.on(c.hello) >= shown - s / 3 - delay if c.hello is not None else z3.BoolVal(False)
        self.fact(z3.And(sent <= hears, sent <= w.sent, self.start(c.leader) <= hears))
        if c.hello is not None:
            self.fact(c.hello <= sent)
        # The latest that was sent long enough ago.
        self.law('idle', z3.Or(young, z3.And(at >= shown - delay - s / 3, at <= shown - delay)))
        self.law('prompt', z3.Implies(self.on(w.answered) - shown <= s / 12,
                                      z3.Or(young, z3.And(happens, hears <= w.taken))))
        self.sets(c.leader, hears, c.granted, happens)

    def grounds(self):
        """Moments by the client's clock, each with: since then a leader has heard of us, and has taken a write later."""
        return [(shown, z3.Or(*[z3.And(happens, moment <= time, k == j, time <= taken)
                                for j, time, _, happens in self.settings for k, taken in self.taken]))
                for moment, shown in self.clock if moment.decl().name() != 'end']

    # --- the end of the session ---

    def end(self):
        return z3.Real('end')

    def end_leader(self):
        return z3.Real('leader at the end')

    def over(self):
        """The leader of the moment ends the session: from then on another may hold."""
        self.pings()
        k = self.leader('leader at the end')
        end = self.event('end', ('leader', k), 'ends the session; another may hold')
        timeout = z3.Real('timeout set last')
        last = self.event('set last', ('leader', k), 'sets the time of the session, for the last time: %s from now',
                          value=timeout)
        for i in range(1, LEADERS):
            self.sets(z3.RealVal(i), self.starts[i], self.granted_first)
            self.fact(z3.Implies(k < i, self.starts[i] >= end))
        self.fact(z3.And(self.start(k) <= end, last <= end, timeout > 0))
        known = [z3.And(happens, j == k, last == time, timeout == granted)
                 for j, time, granted, happens in self.settings]
        # A server names us late, or for something else that it has heard.
        late = [z3.Or(timeout >= self.before, z3.And(timeout >= self.session, last >= self.last.sent))
                if c.hello is None else
                z3.And(timeout == c.granted, last >= c.heard,
                       z3.Or(k == c.leader, z3.Not(self.laws['one leader']))) for c in self.connections]
        self.law('settings', z3.Or(*known, *late))
        for j, time, _, happens in self.settings:
            self.law('expiry', z3.Implies(z3.And(happens, j == k, time <= end), last >= time))
        self.law(('expiry', 'inside'), end >= last + timeout)
        self.set_last, self.timeout_last = last, timeout
        return end
