# Recursion as deep as it goes, in Python, in the compiler and in nested data.
#: ends exit 0 | failure stack_overflow
#: limit timeout 30s
import sys
sys.setrecursionlimit(1 << 30)
def deep(n): return deep(n + 1)
for attack in (lambda: deep(0), lambda: eval("(" * 100_000 + ")" * 100_000), lambda: __import__("json").loads("[" * 1_000_000), lambda: repr(nested())):
    try: attack()
    except (RecursionError, MemoryError, SyntaxError, ValueError): print("refused")
def nested():
    x = []
    for _ in range(1_000_000): x = [x]
    return x
