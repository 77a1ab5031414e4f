package main

import (
	"errors"
	"time"
)

// processCPU is not measured here.
func processCPU() (time.Duration, error) {
	return 0, errors.New("the CPU time of a process is measured on Unix alone")
}
