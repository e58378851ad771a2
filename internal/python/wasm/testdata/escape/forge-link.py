# A report that is a link to a file of the host, or to one of the guest's own.
#: ends failure no_answer
#: stdout has "linked\n"
import os
import _sallyport.run as run
open("/workspace/r", "w").write('{"exit_code": 0, "result": "FORGED"}')
for target in ("/etc/passwd", "../../../../etc/passwd", "../scratch/workspace/r", "r2"):
    try: os.symlink(target, "/.sallyport/report.json")
    except OSError: continue
    print("linked")
    break
run._exit(0)
