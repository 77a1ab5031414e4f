package source_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/tailrace/tailrace/internal/guard"
)

func TestMain(m *testing.M) {
	code := m.Run()
	guard.Close()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			os.Stderr.WriteString("stop-leaves-nothing: " + err.Error() + "\n")
			code = 1
		}
	}
	os.Exit(code)
}
