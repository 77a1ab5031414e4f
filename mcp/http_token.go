package mcp

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"

	"github.com/tailrace/tailrace/internal/lazyregexp"
)

// maxTokenFile is the longest token file, in bytes.
const maxTokenFile = 8 << 10

// tokenPattern are the tokens that a header can carry (RFC 6750).
var tokenPattern = lazyregexp.New(`^[A-Za-z0-9._~+/-]+=*$`)

// goodToken says whether a token can be sent, and is long enough to be no guess.
func goodToken(text string) bool {
	return len(text) >= 16 && len(text) <= 4096 && tokenPattern.MatchString(text)
}

// The errors of [ReadToken].
var (
	ErrTokenMissing = errors.New("the token file cannot be read: make it, readable for this user")
	ErrTokenForm    = errors.New("the token file must be a regular file and no link: give the file itself")
	ErrTokenRights  = errors.New("the token file must belong to this user and be closed to all others: chmod 600 it")
	ErrTokenText    = errors.New("the token file must hold one token of 16 to 4096 letters, digits and . _ ~ + / -, such as openssl rand -hex 32 writes")
)

// NewToken returns a token that cannot be guessed.
func NewToken() string { return rand.Text() + rand.Text() }

// ReadToken reads the token in a file. The file must be regular, no link, and where the
// system knows such rights, belong to the user of the process and be closed to others.
// White space around the token is no part of it. The errors name neither path nor content.
func ReadToken(path string) (string, error) {
	f, err := openToken(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxTokenFile+1))
	if err != nil {
		return "", ErrTokenMissing
	}
	token := string(bytes.TrimSpace(text))
	if len(text) > maxTokenFile || !goodToken(token) {
		return "", ErrTokenText
	}
	return token, nil
}
