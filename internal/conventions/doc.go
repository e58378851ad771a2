// Package conventions holds the rules of this repository that a machine can check, as tests.
//
// There is no code in it, and nothing imports it. Each rule says why it is there; to change one, change
// its test together with the document that states it.
package conventions
