package transport

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// A hostList decides which Host a request may name. A web page whose name is made to resolve to
// this machine (DNS rebinding) is same-origin to the browser, and its name in Host gives it away.
type hostList map[string]bool

func newHostList(entries []string) (hostList, error) {
	list := make(hostList)
	for _, entry := range entries {
		name, port := splitHost(entry)
		if name == "" || strings.ContainsAny(entry, "/*@ \t") || (port == "" && strings.HasSuffix(entry, ":")) {
			return nil, fmt.Errorf("allowed host %q is no host name; write name or name:port", entry)
		}
		list[join(name, port)] = true
	}
	return list, nil
}

// allows judges a Host header. local is the address that the connection came in by.
//
// Loopback names and the very address that was connected to cannot be rebound. A listed name
// without a port stands for no port and for the port of the listener.
func (l hostList) allows(host string, local netip.AddrPort) bool {
	name, port := splitHost(host)
	if name == "localhost" {
		return true
	}
	if addr, err := netip.ParseAddr(name); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		if addr.IsLoopback() || (local.IsValid() && addr == local.Addr().Unmap().WithZone("")) {
			return true
		}
	}
	if l[join(name, port)] {
		return true
	}
	return port != "" && local.IsValid() && port == fmt.Sprint(local.Port()) && l[name]
}

// splitHost takes a Host apart, in lower case and without brackets.
func splitHost(host string) (name, port string) {
	name = strings.ToLower(host)
	if n, p, err := net.SplitHostPort(name); err == nil {
		return n, p
	}
	return strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"), ""
}

func join(name, port string) string {
	if port == "" {
		return name
	}
	return net.JoinHostPort(name, port)
}

// originAllowed judges the Origin, which browsers send and other clients do not. A page may call
// us when we served it ourselves, which no page is today, or when its origin is listed.
func originAllowed(r *http.Request, listed []string) bool {
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return true
	}
	if len(values) > 1 {
		return false
	}
	for _, origin := range listed {
		if strings.EqualFold(origin, values[0]) {
			return true
		}
	}
	origin, err := url.Parse(values[0])
	if err != nil || (origin.Scheme != "http" && origin.Scheme != "https") || origin.User != nil || origin.Path != "" {
		return false
	}
	return strings.EqualFold(origin.Host, r.Host)
}

// localAddr is the address that a request came in by; invalid when it is no IP address.
func localAddr(r *http.Request) netip.AddrPort {
	addr, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return addrPort(addr)
}

func addrPort(addr net.Addr) netip.AddrPort {
	if tcp, ok := addr.(*net.TCPAddr); ok {
		return tcp.AddrPort()
	}
	return netip.AddrPort{}
}

func isLoopback(addr netip.AddrPort) bool {
	return addr.IsValid() && addr.Addr().Unmap().IsLoopback()
}
