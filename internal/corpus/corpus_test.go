package corpus

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

// sums pins the bytes: figures of two machines or two days are of the same input.
var sums = map[string]string{
	"c1": "7810fca3700a98df",
	"c2": "856c73df3c310703",
	"c3": "30364f1fbd587b0c",
	"c4": "25456553565de7fb",
	"c5": "fbe8fc990d4770b5",
	"c6": "123b15ff22231062",
}

func TestSameBytesEverywhere(t *testing.T) {
	for _, c := range All {
		sum := sha256.Sum256(c.Bytes(1 << 20))
		if got := hex.EncodeToString(sum[:8]); got != sums[c.Name] {
			t.Errorf("%s: the bytes changed: sum %s, want %s", c.Name, got, sums[c.Name])
		}
	}
}

func TestSize(t *testing.T) {
	for _, c := range All {
		for _, size := range []int{64 << 10, 1 << 20} {
			data := c.Bytes(size)
			if len(data) > size {
				t.Errorf("%s: %d bytes, want at most %d", c.Name, len(data), size)
			}
			if len(data) < size-64<<10 && c.Name != "c3" {
				t.Errorf("%s: %d bytes, want nearly %d", c.Name, len(data), size)
			}
			if c.line != nil && len(data) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
				t.Errorf("%s does not end with a whole line", c.Name)
			}
		}
	}
}
