// Command release makes the parts of a release that goreleaser does not: the bundle for
// MCP clients, and the entry in the MCP registry. Both are checked against the published
// schemas before they are written.
//
//	go run ./internal/release bundle -version 1.2.3 -darwin F -linux F -windows F -out FILE
//	go run ./internal/release registry -version 1.2.3 -bundle FILE -out FILE
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

const (
	manifestPath = "packaging/mcpb/manifest.json"
	registryPath = "packaging/server.json"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("say bundle or registry")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	version := flags.String("version", "", "version of the release, without a v")
	out := flags.String("out", "", "file to write")
	var b bundle
	var bundlePath, template string
	switch args[0] {
	case "bundle":
		flags.StringVar(&b.darwin, "darwin", "", "universal binary for macOS")
		flags.StringVar(&b.linux, "linux", "", "binary for Linux on amd64")
		flags.StringVar(&b.windows, "windows", "", "binary for Windows on amd64")
		flags.StringVar(&template, "manifest", manifestPath, "manifest whose version is filled in")
	case "registry":
		flags.StringVar(&bundlePath, "bundle", "", "bundle that the entry names")
		flags.StringVar(&template, "template", registryPath, "entry whose version and package are filled in")
	default:
		return errors.New("say bundle or registry")
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if *version == "" || *out == "" || flags.NArg() > 0 {
		return errors.New("-version and -out are required, and there are no other arguments")
	}
	data, err := os.ReadFile(template)
	if err != nil {
		return err
	}
	if args[0] == "bundle" {
		return b.write(*out, data, *version)
	}
	return writeRegistry(*out, data, *version, bundlePath)
}
