package pipeline_test

import (
	"errors"
	"testing"
	"time"

	"github.com/tailrace/tailrace/pipeline"
)

func TestBounds(t *testing.T) {
	for _, b := range []pipeline.Bounds{{MaxBytes: -1}, {MaxBytes: pipeline.MaxCaptureBytes + 1}, {MaxEvents: -1}, {MaxTime: -1}, {MaxTime: time.Microsecond}} {
		if err := b.Validate(); !errors.Is(err, pipeline.ErrBounds) {
			t.Errorf("%+v: %v", b, err)
		}
	}
	for _, b := range []pipeline.Bounds{{MaxBytes: 1}, {MaxBytes: pipeline.MaxCaptureBytes}, {MaxEvents: 1}, {MaxTime: time.Millisecond}, {MaxTime: 240 * time.Hour}} {
		if err := b.Validate(); err != nil || b.MaxBytes != 0 && b.Bytes() != b.MaxBytes {
			t.Errorf("%+v: %v, %d bytes", b, err, b.Bytes())
		}
	}
	if b := (pipeline.Bounds{}); b.Validate() != nil || b.Bytes() != pipeline.CaptureLimit {
		t.Errorf("the zero value: %v, %d bytes", b.Validate(), b.Bytes())
	}
}
