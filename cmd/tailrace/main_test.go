package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The test binary is the program itself where a script asks for it.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"tailrace": main})
}
