# The engine's own module, replaced; then there is no report to believe.
#: ends failure no_answer
import _sallyport
_sallyport.run._dump = lambda report: b"{}"
_sallyport.run.REPORT = "/workspace/elsewhere"
