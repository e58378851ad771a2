// Package confine is the belt around a helper process that runs code nobody here trusts.
//
// [Prepare] finds what a program needs and what this kernel can enforce; [Belt.Open] makes a
// [Box], the private view and the empty writable folders of one process; [Box.Start] starts it.
// The program sees its own libraries, the files that were named and its scratch folders. It has
// no network, no capability, no way to start another program, to signal or to look at another
// process, and it dies with us. Memory, processor time, threads, descriptors, file size, scratch
// bytes and scratch files are bounded.
//
// The package refuses to start anything when a fence is missing, unless the operator allowed a
// weaker belt by name. It does not judge what the program prints or leaves in its scratch
// folders: those are hostile bytes for the caller, to be read through [Box.Root] only.
//
// docs/belt.md says what each fence does, how it is made, and what it does not cover.
package confine
