// Package advisory knows the public security advisories of the runtime that scripts run in, by
// version, and whether our way of running it keeps each from mattering on a given host.
//
// It refuses versions below the supported range and those with an advisory that nothing on the host
// covers; it never says that a version is safe, only what is known. advisories.json is written by
// hand from public sources: an entry's absence means that nobody looked, see reviewed_through.
//
// Setup asks before it prepares a runtime, the doctor afterwards.
package advisory
