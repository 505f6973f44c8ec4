# SPDX-License-Identifier: Apache-2.0
"""player.py KIND NAME=VALUE...: plays a driver of bench/README.md.

KIND is honest; liar, with two holds at the same time; dies; or mumbles, whose answer is no JSON.
"""
import json
import sys


def play(kind, arguments):
    options = dict(word.split("=", 1) for word in arguments)
    first = int(options["first"])
    print("ready", flush=True)
    for _ in sys.stdin:
        if kind == "dies":
            sys.exit("that was too much")
        # Contenders take turns of 10, and hold for 5 of them. The liar releases its first hold late.
        late = 10 if kind == "liar" else 0
        times = []
        for turn in range(100):
            begin = 1000 + 20 * turn + 10 * first
            times += [begin - 1, begin, begin + 5 + late]
            late = 0
        answer = {"from": 0, "to": 10000, "grants": [times]}
        print("nonsense" if kind == "mumbles" else json.dumps(answer), flush=True)


play(sys.argv[1], sys.argv[2:])
