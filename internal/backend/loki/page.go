package loki

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/tailrace/tailrace/internal/backend"
)

// largestPage is how many lines are asked for at once where many have the same time.
const largestPage = 100_000

// A pager reads a range page by page. A page begins with the time at which the one before
// ended, that time included, so that no line with the same time is lost; the lines of it
// that are known are left out.
type pager struct {
	c        *client
	query    string
	from, to int64 // to is not part of the range
	backward bool
	page     int
	want     int // how many lines are wanted at most, 0 for all
}

func (s *Source) pager(from, to int64, backward bool) *pager {
	return &pager{c: s.c, query: s.o.Query, from: from, to: to, backward: backward, page: s.o.page}
}

// each calls take with the lines of each page, in order: the oldest first, or the newest
// first where it reads backward. It tells of lines that the server cannot be made to give.
func (p *pager) each(ctx context.Context, take func([]entry) error, tell func(*backend.Notice) error) error {
	known := map[key]int{} // the lines at the border that were given on
	border := int64(-1)
	limit := p.page
	for got := 0; p.from < p.to; {
		ask := limit
		if p.want > 0 {
			// Not more than is wanted, besides what is known.
			ask = min(limit, p.want-got+total(known))
		}
		all, err := p.request(ctx, ask)
		if errors.Is(err, errTooMany) {
			if ask <= p.page {
				if limit, p.page = ask/2, ask/2; limit > 0 {
					continue
				}
				return &backend.Error{Code: backend.CodeFailed, Problem: "Loki gives no lines at once: check its max_entries_limit_per_query"}
			}
			if n := total(known); ask > n+1 {
				limit = n + (ask-n)/2
				continue
			}
			// As many as can be had have the same time. Those behind them cannot be reached.
			n := &backend.Notice{Dropped: 1, Message: "more lines have the same time than Loki gives at once: some of them are missing"}
			if err := tell(n); err != nil {
				return err
			}
			limit, known = p.page, map[key]int{}
			if p.backward {
				p.to = border
			} else {
				p.from = border + 1
			}
			continue
		}
		if err != nil {
			return err
		}
		fresh := p.fresh(all, known)
		if len(fresh) == 0 {
			if len(all) < ask || ask >= largestPage {
				return nil
			}
			limit = min(2*ask, largestPage) // all of the page is known: it is one time
			if p.want > 0 {
				p.want = max(p.want, got+limit)
			}
			continue
		}
		got += len(fresh)
		if err := take(fresh); err != nil {
			return err
		}
		limit = p.page
		at := all[len(all)-1].ns
		if at != border {
			known = map[key]int{}
		}
		here := map[key]int{}
		for _, e := range all {
			if e.ns == at {
				here[e.key()]++
			}
		}
		for k, n := range here {
			known[k] = max(known[k], n)
		}
		if border = at; p.backward {
			p.to = at + 1
		} else {
			p.from = at
		}
	}
	return nil
}

func total(known map[key]int) int {
	sum := 0
	for _, n := range known {
		sum += n
	}
	return sum
}

// request asks for one page and puts it in order.
func (p *pager) request(ctx context.Context, limit int) ([]entry, error) {
	direction := "forward"
	if p.backward {
		direction = "backward"
	}
	all, err := p.c.query(ctx, url.Values{
		"query": {p.query}, "direction": {direction}, "limit": {strconv.Itoa(limit)},
		"start": {strconv.FormatInt(p.from, 10)}, "end": {strconv.FormatInt(p.to, 10)},
	})
	// What lies outside was not asked for, and would let the paging go around in circles.
	all = slices.DeleteFunc(all, func(e entry) bool { return e.ns < p.from || e.ns >= p.to })
	byTime(all, p.backward)
	return all, err
}

// fresh returns the lines that are not known.
func (p *pager) fresh(all []entry, known map[key]int) []entry {
	if len(known) == 0 {
		return all
	}
	left := maps.Clone(known)
	fresh := make([]entry, 0, len(all))
	for _, e := range all {
		if k := e.key(); left[k] > 0 {
			left[k]--
			continue
		}
		fresh = append(fresh, e)
	}
	return fresh
}
