package source

import (
	"io/fs"
	"os"
	"strconv"
)

const (
	// oldFiles is how many numbered old files are looked at.
	oldFiles = 32
	// snapshots is how often the names are read while a rotation changes them. After that
	// the next look tries again.
	snapshots = 3
)

// successors opens what is to be read after a file that was rotated away: the files that
// were rotated away after it, the oldest first, then the one that has the name now. It
// returns nothing while a rotation is under way.
func (s *File) successors(own fs.FileInfo) []*os.File {
	for range snapshots {
		if files, ok := s.snapshot(own); ok {
			return files
		}
	}
	return nil
}

// snapshot does what successors does, once. It is false where a name changed its meaning
// meanwhile, or the one that has the name now cannot be read.
func (s *File) snapshot(own fs.FileInfo) (files []*os.File, ok bool) {
	var names [oldFiles + 1]fs.FileInfo
	at := 0 // the number that own has now, 0 for none
	// Upward, as old files move: so own is not missed.
	for n := range names {
		names[n], _ = s.stat(s.old(n))
		if n > 0 && names[n] != nil && os.SameFile(names[n], own) {
			at = n
		}
	}
	if names[0] == nil || os.SameFile(names[0], own) {
		return nil, false // gone, or back again, since the name was looked at
	}
	defer func() {
		if !ok {
			for _, f := range files {
				f.Close()
			}
			files = nil
		}
	}()
	for n := max(at-1, 0); n >= 0; n-- {
		if n > 0 && (names[n] == nil || names[n].ModTime().Before(own.ModTime())) {
			continue // from before own: the numbers mean something else here
		}
		f, err := s.open(s.old(n))
		if err != nil && n == 0 {
			return files, false
		}
		if err != nil {
			continue // a folder, or nothing that we may read
		}
		files = append(files, f)
		if is, err := f.Stat(); err != nil || names[n] == nil || !os.SameFile(is, names[n]) {
			return files, false
		}
	}
	// An old file is moved to the next number before another one takes its place. So if
	// the names mean at the end what they meant at the beginning, none was missed.
	for n := range at + 1 {
		info, _ := s.stat(s.old(n))
		if (info == nil) != (names[n] == nil) || info != nil && !os.SameFile(info, names[n]) {
			return files, false
		}
	}
	// The writer is done with all but the last one that holds something. The ones behind it
	// are for a later look.
	for n := len(files); n > 0; n-- {
		if info, err := files[n-1].Stat(); err == nil && info.Size() > 0 {
			break
		}
		files[n-1].Close()
		files = files[:n-1]
	}
	return files, true
}

// old returns the name of the n-th old file; that of 0 is the name itself.
func (s *File) old(n int) string {
	if n == 0 {
		return s.path
	}
	return s.path + "." + strconv.Itoa(n)
}
