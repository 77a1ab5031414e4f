package stages

import "github.com/tailrace/tailrace/internal/jsonstr"

// fit returns the form cut to limit bytes of JSON: as it is where it fits, else cut in
// the order of rule B3. floor is how much of stderr is counted while events, or the
// stdout of a command without events, are cut.
func (f form) fit(limit, floor int) form {
	if f.fits(limit) {
		return f
	}
	f.cut = true
	if f.p.Log != nil {
		f.stdout.drop()
		if room := f.room(limit); room >= 0 {
			f.stdout.cut(room)
			return f
		}
		f.stderr.floor(floor)
		if !f.fits(limit) {
			f.dropEvents(limit)
		}
		return f.fitStderr(limit)
	}
	f.noData = true
	if f.fits(limit) {
		return f
	}
	f.stderr.floor(floor)
	f.stdout.drop()
	f.stdout.cut(f.room(limit))
	return f.fitStderr(limit)
}

// fits says whether the form takes at most limit bytes. What cannot fit by the length of
// its parts alone is not counted: escaping never makes a part shorter.
func (f *form) fits(limit int) bool { return f.room(limit) >= 0 }

// room returns how many bytes the form leaves of limit. It is negative where the form
// does not fit.
func (f *form) room(limit int) int {
	least := f.stdout.n + f.stderr.n
	for _, t := range f.texts {
		least += len(t)
	}
	if !f.noData {
		if f.p.Log == nil {
			least += len(f.p.Data)
		} else {
			least += f.eventBytes
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
	f.keepEvents(0)
	room := f.room(limit)
	if room < 0 {
		return
	}
	// Below all, each event adds to the size, so there is one largest number that fits.
	// All of them are another form: it has no byte cutoff. The count takes room too, by
	// its digits: one is counted in room, so start from the most that there can be.
	events := f.p.Log.Events
	for extra, top := digits(all)-1, all-1; ; extra-- {
		n := min(events.Fit(room-extra), top)
		if digits(n)-1 >= extra {
			f.keepEvents(n)
			return
		}
		top = min(all-1, pow10(extra)-1)
	}
}

func digits(n int) int {
	d := 1
	for ; n >= 10; n /= 10 {
		d++
	}
	return d
}

func pow10(n int) int {
	p := 1
	for ; n > 0; n-- {
		p *= 10
	}
	return p
}

// fitStderr keeps the largest prefix of stderr that fits, and falls back to the last
// resort where not even none of it does.
func (f form) fitStderr(limit int) form {
	f.stderr.drop()
	room := f.room(limit)
	if room < 0 {
		return f.lastResort(limit)
	}
	f.stderr.cut(room)
	if f.separator() {
		// The line end before the note takes two bytes, as a line end of stderr would:
		// where stderr goes on with one, keep that.
		f.stderr.cut(room - len(`\n`))
		if e := &f.stderr; e.n < len(e.all) && e.all[e.n] == '\n' {
			e.n, e.escaped = e.n+1, e.escaped+len(`\n`)
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
	f.stdout.drop()
	f.stderr.drop()
	f.keepEvents(0)
	f.texts = [textCount][]byte{}
	return f
}
