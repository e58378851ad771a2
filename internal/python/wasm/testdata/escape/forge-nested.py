# A report of half a million brackets.
#: ends failure no_answer
import _sallyport.run as run
open("/.sallyport/report.json", "w").write('{"exit_code": 0, "x": ' + "[" * 500_000 + "]" * 500_000 + "}")
run._exit(0)
