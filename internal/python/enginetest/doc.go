// Package enginetest is the suite that every engine of run_python passes.
//
// An engine's own test is one call of [Run]. The cases are data: testdata/*.txtar, one file a
// case, with scripts and what has to come of them. [script.go] describes the format, and to add
// a case is to add a file. Each call also has to keep what the interface promises, whatever the
// script does; contract.go holds that. The suite refuses to pass a case that it cannot judge: a
// case is skipped, with the reason, only where the engine's [Traits] or packages leave it out.
package enginetest
