package proptest

import (
	"bytes"
	"os"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/prop"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// setting reads a number from the environment.
func setting(t *testing.T, name string, standard int64) int64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return standard
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s takes a whole number", name)
	}
	return n
}

// forAll holds a law against many values of a generator; the law returns what is wrong,
// or "". TAILRACE_CASES says how many, TAILRACE_SEED which: the same ones in each run where
// it is not set, so that a failure is the change's; `make laws` takes new ones. A value
// that breaks the law is shrunk before it is shown. Time inside is simulated.
func forAll[T any](t *testing.T, g gopter.Gen, law func(T) string) {
	t.Helper()
	seed := setting(t, "TAILRACE_SEED", 2026)
	t.Logf("TAILRACE_SEED=%d", seed)
	p := gopter.DefaultTestParametersWithSeed(seed)
	p.MinSuccessfulTests = int(setting(t, "TAILRACE_CASES", 1000))
	p.MinSize, p.MaxSize = 1, 40
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		properties := gopter.NewProperties(p)
		properties.Property(t.Name(), prop.ForAll(law, g))
		if !properties.Run(gopter.NewFormatedReporter(true, 1<<20, &out)) {
			t.Errorf("%s\nreplay with TAILRACE_SEED=%d", out.String(), seed)
		}
	})
}
