# A report with numbers that no interpreter has.
#: ends failure no_answer
import _sallyport.run as run
open("/.sallyport/report.json", "w").write('{"exit_code": 99999999999, "figures": -5, "figures_skipped": 1e400}')
run._exit(0)
