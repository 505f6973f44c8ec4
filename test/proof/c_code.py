# SPDX-License-Identifier: Apache-2.0
"""Runs functions of a C file on symbols: numbers may be Python's or z3's, all else is what it is.

The subset is what lib/session/lease.c needs: structs, arrays, pointers to them, loops that end. What it does not know is
an error. Whole numbers that are known are divided as C does; symbols are real numbers, and are divided without a rest.
A branch on a symbol is a choice; Paths goes through all of them.
"""
import re

import z3
from pycparser import c_ast, c_parser

PRELUDE = """
typedef int bool; typedef long int64_t; typedef unsigned long uint64_t; typedef unsigned long size_t;
"""


class NotKnown(Exception):
    pass


def plain(text):
    """C without comments and without the lines of the preprocessor."""
    text = re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)
    return re.sub(r'^\s*#(.*\\\n)*.*$', '', text, flags=re.M)


def is_symbol(value):
    return isinstance(value, z3.ExprRef)


def number(value):
    if isinstance(value, bool):
        return int(value)
    return z3.If(value, z3.RealVal(1), z3.RealVal(0)) if z3.is_bool(value) else value


def truth(value):
    if isinstance(value, Pointer):
        return True
    if value is None:
        return False
    if is_symbol(value):
        return value if z3.is_bool(value) else value != 0
    return bool(value)


class Pointer:
    def __init__(self, home, key):
        self.home, self.key = home, key

    def read(self):
        return self.home[self.key]

    def write(self, value):
        self.home[self.key] = copy(value)


def copy(value):
    if isinstance(value, dict):
        return {key: copy(each) for key, each in value.items()}
    return [copy(each) for each in value] if isinstance(value, list) else value


class Paths:
    """The choices of one run. after() each run: is there another one?"""

    def __init__(self, possible):
        self.possible, self.choices, self.at, self.conditions = possible, [], 0, []

    def choose(self, condition):
        condition = z3.simplify(condition)
        if z3.is_true(condition) or z3.is_false(condition):
            return z3.is_true(condition)
        if self.at == len(self.choices):
            yes = self.possible(self.conditions + [condition])
            no = self.possible(self.conditions + [z3.Not(condition)])
            self.choices.append([yes, yes and no])
        choice = self.choices[self.at][0]
        self.at += 1
        self.conditions.append(condition if choice else z3.Not(condition))
        return choice

    def after(self):
        while self.choices and not self.choices[-1][1]:
            self.choices.pop()
        self.at, self.conditions = 0, []
        if self.choices:
            self.choices[-1] = [False, False]
        return bool(self.choices)


class Return(Exception):
    def __init__(self, value):
        Exception.__init__(self)
        self.value = value


class Program:
    def __init__(self, *texts):
        tree = c_parser.CParser().parse(PRELUDE + '\n'.join(plain(text) for text in texts))
        self.functions, self.structs, self.names = {}, {}, {'NULL': None, 'true': 1, 'false': 0}
        self.paths = None
        for each in tree.ext:
            if isinstance(each, c_ast.FuncDef):
                self.functions[each.decl.name] = each
            elif isinstance(each, c_ast.Decl):
                self.define(each.type)

    def define(self, kind):
        if isinstance(kind, c_ast.Struct) and kind.decls:
            self.structs[kind.name] = kind.decls
        elif isinstance(kind, c_ast.Enum) and kind.values:
            following = 0
            for each in kind.values.enumerators:
                following = self.value(each.value, {}) if each.value else following
                self.names[each.name] = following
                following += 1

    def zero(self, kind):
        if isinstance(kind, c_ast.TypeDecl):
            return self.zero(kind.type)
        if isinstance(kind, c_ast.ArrayDecl):
            return [self.zero(kind.type) for _ in range(self.value(kind.dim, {}))]
        if isinstance(kind, c_ast.Struct):
            return {each.name: self.zero(each.type) for each in self.structs[kind.name]}
        return None if isinstance(kind, c_ast.PtrDecl) else 0

    def struct(self, name):
        return self.zero(c_ast.Struct(name, None))

    def call(self, name, *arguments):
        if name not in self.functions:
            raise NotKnown('function ' + name)
        function = self.functions[name]
        scope = {each.name: copy(value) for each, value
                 in zip(function.decl.type.args.params, arguments)}
        try:
            self.do(function.body, scope)
        except Return as end:
            return end.value
        return None

    # --- statements ---

    def do(self, node, scope):
        kind = type(node).__name__
        if kind == 'Compound':
            for each in node.block_items or []:
                self.do(each, scope)
        elif kind == 'Decl':
            self.declare(node, scope)
        elif kind == 'If':
            chosen = node.iftrue if self.decide(node.cond, scope) else node.iffalse
            if chosen:
                self.do(chosen, scope)
        elif kind == 'While':
            while self.decide(node.cond, scope):
                self.do(node.stmt, scope)
        elif kind == 'Return':
            raise Return(self.value(node.expr, scope) if node.expr else None)
        else:
            self.value(node, scope)

    def declare(self, node, scope):
        self.define(node.type)
        if isinstance(node.init, c_ast.InitList):
            scope[node.name] = self.filled(node.type, node.init, scope)
        elif node.name:
            value = self.value(node.init, scope) if node.init else self.zero(node.type)
            scope[node.name] = copy(value)

    def decide(self, condition, scope):
        value = truth(self.value(condition, scope))
        return self.paths.choose(value) if is_symbol(value) else value

    # --- expressions ---

    def value(self, node, scope):
        return getattr(self, 'of_' + type(node).__name__, self.unknown)(node, scope)

    def unknown(self, node, _scope):
        raise NotKnown(type(node).__name__)

    def of_Constant(self, node, _scope):
        return int(node.value.rstrip('uUlL'), 0)

    def of_ID(self, node, scope):
        return scope[node.name] if node.name in scope else self.names[node.name]

    def of_Cast(self, node, scope):
        return self.value(node.expr, scope)

    def of_ExprList(self, node, scope):
        return [self.value(each, scope) for each in node.exprs][-1]

    def of_StructRef(self, node, scope):
        return self.place(node, scope).read()

    def of_ArrayRef(self, node, scope):
        return self.place(node, scope).read()

    def of_CompoundLiteral(self, node, scope):
        return self.filled(node.type.type, node.init, scope)

    def of_FuncCall(self, node, scope):
        arguments = node.args.exprs if node.args else []
        return self.call(node.name.name, *[self.value(each, scope) for each in arguments])

    def of_TernaryOp(self, node, scope):
        condition = truth(self.value(node.cond, scope))
        if is_symbol(condition):
            yes, no = self.value(node.iftrue, scope), self.value(node.iffalse, scope)
            if not isinstance(yes, Pointer) and not isinstance(no, Pointer) and None not in (yes, no):
                return z3.If(condition, *[number(z3.RealVal(each) if isinstance(each, int) else each)
                                          for each in (yes, no)])
            condition = self.paths.choose(condition)
        return self.value(node.iftrue if condition else node.iffalse, scope)

    def of_Assignment(self, node, scope):
        place, value = self.place(node.lvalue, scope), self.value(node.rvalue, scope)
        if node.op != '=':
            value = self.arithmetic(node.op[:-1], place.read(), value)
        place.write(value)
        return value

    def of_UnaryOp(self, node, scope):
        if node.op == '&':
            return self.place(node.expr, scope)
        if node.op in ('++', '--', 'p++', 'p--'):
            place = self.place(node.expr, scope)
            before = place.read()
            place.write(before + (1 if '+' in node.op else -1))
            return before if node.op[0] == 'p' else place.read()
        value = self.value(node.expr, scope)
        if node.op == '*':
            return value.read()
        if node.op == '!':
            value = truth(value)
            return z3.Not(value) if is_symbol(value) else not value
        if node.op == '-':
            return -number(value)
        raise NotKnown('operator ' + node.op)

    def of_BinaryOp(self, node, scope):
        left = self.value(node.left, scope)
        if node.op not in ('&&', '||'):
            return self.arithmetic(node.op, left, self.value(node.right, scope))
        left = truth(left)
        if not is_symbol(left):
            return truth(self.value(node.right, scope)) if left == (node.op == '&&') else left
        right = truth(self.value(node.right, scope))
        return z3.And(left, right) if node.op == '&&' else z3.Or(left, right)

    def arithmetic(self, op, left, right):
        if op in ('==', '!=') and (left is None or right is None):
            return (left is right) == (op == '==')
        left, right = number(left), number(right)
        symbols = is_symbol(left) or is_symbol(right)
        if op == '/':
            if is_symbol(right):
                return z3.FreshReal('quotient')  # of a pause, which no bound depends on
            quotient = left / right if symbols else abs(left) // abs(right)
            return quotient if symbols or (left < 0) == (right < 0) else -quotient
        if op == '%':
            if not symbols and left >= 0:
                return left % right
            return z3.FreshReal('rest')
        if op == '*' and is_symbol(left) and is_symbol(right):
            return z3.FreshReal('product')
        return {'+': lambda: left + right, '-': lambda: left - right, '*': lambda: left * right,
                '<': lambda: left < right, '<=': lambda: left <= right, '>': lambda: left > right,
                '>=': lambda: left >= right, '==': lambda: left == right,
                '!=': lambda: left != right}[op]()

    # --- places ---

    def place(self, node, scope):
        if isinstance(node, c_ast.ID):
            return Pointer(scope, node.name)
        if isinstance(node, c_ast.StructRef):
            if node.type == '->':
                return Pointer(self.value(node.name, scope).read(), node.field.name)
            return Pointer(self.place(node.name, scope).read(), node.field.name)
        if isinstance(node, c_ast.ArrayRef):
            return Pointer(self.place(node.name, scope).read(), self.value(node.subscript, scope))
        if isinstance(node, c_ast.UnaryOp) and node.op == '*':
            return self.value(node.expr, scope)
        raise NotKnown('place ' + type(node).__name__)

    def filled(self, kind, values, scope):
        kind = kind.type if isinstance(kind, c_ast.TypeDecl) else kind
        made = self.zero(kind)
        names = [each.name for each in self.structs[kind.name]]
        for name, each in zip(names, values.exprs):
            if isinstance(each, c_ast.NamedInitializer):
                name, each = each.name[0].name, each.expr
            value = self.value(each, scope)
            if not (value == 0 and isinstance(made[name], (dict, list))):  # {0}
                made[name] = copy(value)
        return made
