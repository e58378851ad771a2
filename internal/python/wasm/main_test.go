package wasm

import (
	"fmt"
	"os"
	"testing"

	"sallyport.dev/sallyport/internal/confine"
)

// cacheVariable names the cache that setup has filled. Only this variable makes tests use one, so
// that a plain go test never touches a user's cache.
const cacheVariable = "SALLYPORT_TEST_CACHE"

func TestMain(m *testing.M) {
	program, err := os.Executable()
	if err == nil {
		// As an ordinary user the belt needs a namespace, which a program enters by starting again.
		err = confine.EnterUserNamespace(program)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "going on without a namespace of our own:", err)
	}
	os.Exit(m.Run())
}

func preparedCache(t testing.TB) string {
	t.Helper()
	cache := os.Getenv(cacheVariable)
	if cache == "" {
		t.Skip("no prepared cache: make test makes one and sets " + cacheVariable)
	}
	return cache
}
