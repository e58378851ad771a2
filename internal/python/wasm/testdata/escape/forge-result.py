# A whole and well-formed report. A script may choose its exit code and its result, and gets no more by this.
#: ends exit 0
#: result has "truncated"
#: figures 0
import json
import _sallyport.run as run
open("/.sallyport/report.json", "w").write(json.dumps({"exit_code": 0, "figures": 10**9, "figures_skipped": 10**18, "result_head": "H" * 1_500_000,
    "result_tail": "T" * 1_500_000, "result_chars": -(10**18), "timed_out": True, "unknown": [1, 2]}))
run._exit(0)
