//go:build !linux

package source

func useHugePages([]byte) {}
