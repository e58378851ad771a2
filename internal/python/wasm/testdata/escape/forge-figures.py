# Figures that are links, folders, sparse or no pictures at all.
#: ends exit 0
#: figures 0
#: files only
import os
import _sallyport.run as run
os.makedirs("/.sallyport/figure-1.png")
for n, target in enumerate(("../../../../etc/passwd", "../scratch/workspace/secret", "/etc/passwd", "figure-3.png", "report.json")):
    try: os.symlink(target, f"/.sallyport/figure-{n + 2}.png")
    except OSError: open(f"/.sallyport/figure-{n + 2}.png", "wb").write(b"<script>no picture</script>")
f = open("/.sallyport/figure-7.png", "wb"); f.truncate(1 << 30); f.close()
open("/.sallyport/figure-8.png", "wb").write(b"%PDF-1.7 no picture")
open("/.sallyport/report.json", "w").write('{"exit_code": 0, "figures": 64}')
run._exit(0)
