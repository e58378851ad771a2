# A pattern that takes longer than the universe has, in C, where no exception is looked at.
#: limit timeout 2s
#: ends timeout
import re
re.match(r"(a+)+$", "a" * 60 + "b")
