# os._exit with a status that native programs use for signals is a status and nothing else.
#: ends exit 137
import os
os._exit(137)
