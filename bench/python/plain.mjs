// The plain design: one Deno with one Pyodide for each call; the script comes on standard input.
import { loadPyodide } from "./node_modules/pyodide/pyodide.mjs";

const indexURL = new URL("./node_modules/pyodide/", import.meta.url).pathname;
const python = await loadPyodide({ indexURL, stdin: () => null });
await python.runPythonAsync(await new Response(Deno.stdin.readable).text());
