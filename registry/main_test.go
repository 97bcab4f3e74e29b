package registry

import (
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// cacheWriterEnv makes the test binary a process that writes the cache file
// "interface path".
const cacheWriterEnv = "GOFER_TEST_CACHE_WRITER"

// TestMain: no test leaves a goroutine behind.
func TestMain(m *testing.M) {
	if service, file, ok := strings.Cut(os.Getenv(cacheWriterEnv), " "); ok {
		writeCacheFor(service, file)
	}
	goleak.VerifyTestMain(m)
}
