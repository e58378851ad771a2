# A report of 23 MiB.
#: ends failure no_answer
import _sallyport.run as run
f = open("/.sallyport/report.json", "w")
f.write('{"exit_code": 0, "result": "')
for _ in range(23): f.write("R" * (1 << 20))
f.write('"}'); f.close()
run._exit(0)
