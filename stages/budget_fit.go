package stages

import (
	"github.com/tailrace/tailrace/internal/jsonstr"
	"github.com/tailrace/tailrace/internal/utf8cut"
)

// fit returns the form cut to limit bytes of JSON: as it is where it fits, else cut in
// the order of rule B3. floor is how much of stderr is counted while events, or the
// stdout of a command without events, are cut.
func (f form) fit(limit, floor int) form {
	if f.fits(limit) {
		return f
	}
	f.cut = true
	if f.p.Log != nil {
		f.stdout = 0
		if room := f.room(limit); room >= 0 {
			f.stdout = jsonstr.Cut(f.p.Stdout, room)
			return f
		}
		f.stderr = floorCut(f.p.Stderr, floor)
		if !f.fits(limit) {
			f.dropEvents(limit)
		}
		return f.fitStderr(limit)
	}
	f.noData = true
	if f.fits(limit) {
		return f
	}
	f.stderr = floorCut(f.p.Stderr, floor)
	f.stdout = 0
	if room := f.room(limit); room > 0 {
		f.stdout = jsonstr.Cut(f.p.Stdout, room)
	}
	return f.fitStderr(limit)
}

// fits says whether the form takes at most limit bytes. What cannot fit by the length of
// its parts alone is not counted: escaping never makes a part shorter.
func (f *form) fits(limit int) bool { return f.room(limit) >= 0 }

// room returns how many bytes the form leaves of limit. It is negative where the form
// does not fit.
func (f *form) room(limit int) int {
	least := f.stdout + f.stderr
	for _, t := range f.texts {
		least += len(t)
	}
	if !f.noData {
		if f.p.Log == nil {
			least += len(f.p.Data)
		} else if f.events > 0 {
			least += f.p.Log.Events.Size(f.events)
		}
	}
	if least > limit {
		return limit - least
	}
	return limit - f.size()
}

// dropEvents drops as many events as it takes to fit, at least one if there is any.
func (f *form) dropEvents(limit int) {
	all := f.events
	if all == 0 {
		return
	}
	f.events = 0
	room := f.room(limit)
	if room < 0 {
		return
	}
	// Below all, each event adds to the size, so the largest number that fits can be
	// searched for. All of them are another form: it has no byte cutoff.
	low, high := 0, all-1
	for low < high {
		n := low + (high-low+1)/2
		if f.p.Log.Events.Size(n)+digits(n)-1 <= room {
			low = n
		} else {
			high = n - 1
		}
	}
	f.events = low
}

func digits(n int) int {
	d := 1
	for ; n >= 10; n /= 10 {
		d++
	}
	return d
}

// fitStderr keeps the largest prefix of stderr that fits, and falls back to the last
// resort where not even none of it does.
func (f form) fitStderr(limit int) form {
	f.stderr = 0
	room := f.room(limit)
	if room < 0 {
		return f.lastResort(limit)
	}
	s := f.p.Stderr
	f.stderr = jsonstr.Cut(s, room)
	if f.separator() {
		// The line end before the note takes two bytes, as a line end of stderr would:
		// where stderr goes on with one, keep that.
		f.stderr = jsonstr.Cut(s, room-len(`\n`))
		if f.stderr < len(s) && s[f.stderr] == '\n' {
			f.stderr++
		}
	}
	return f
}

// lastResort cuts what is left when stdout, events and stderr are gone: the command, the
// texts of the error, the stop reason. Where that is not enough it gives up the note,
// and then the data. The smallest form is returned whether it fits or not.
func (f form) lastResort(limit int) form {
	whole := f.texts
	for range 3 {
		for i, t := range f.texts {
			f.texts[i] = nil
			if room := f.room(limit); room >= 0 {
				f.texts[i] = t[:jsonstr.Cut(t, room)]
				return f
			}
		}
		if f.bareNote {
			if f.noData {
				break
			}
			f.noData = true
		}
		f.bareNote = true
		f.texts = whole
	}
	return f.smallest()
}

// smallest returns the form with nothing in it that can be left out.
func (f form) smallest() form {
	f.cut, f.bareNote, f.noData = true, true, true
	f.stdout, f.stderr, f.events = 0, 0, 0
	f.texts = [textCount][]byte{}
	return f
}

// floorCut returns the length of the longest prefix of s that ends on a border of a code
// point and is at most floor bytes long as a string.
func floorCut(s []byte, floor int) int {
	n := 0
	for n < len(s) {
		w, ok := utf8cut.Next(s[n:])
		cost := w
		if !ok {
			cost = len("\ufffd")
		}
		if floor -= cost; floor < 0 {
			break
		}
		n += w
	}
	return n
}
