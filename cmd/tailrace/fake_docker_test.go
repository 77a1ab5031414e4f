package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// fakeDocker stands for docker: it notes its arguments, one JSON list a line, in the file
// log of the folder FAKE_DOCKER, and answers from files of that folder, which are named by
// the command: compose-ps.out, compose-ps.err, compose-ps.code.
func fakeDocker() int {
	dir := os.Getenv("FAKE_DOCKER")
	line, err := json.Marshal(os.Args[1:])
	if err != nil {
		return 99
	}
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 99
	}
	if _, err := log.Write(append(line, '\n')); err != nil || log.Close() != nil {
		return 99
	}
	name := dockerCommand(os.Args[1:])
	answer := func(kind string) string {
		data, _ := os.ReadFile(filepath.Join(dir, name+"."+kind))
		return string(data)
	}
	os.Stdout.WriteString(answer("out"))
	os.Stderr.WriteString(answer("err"))
	code, _ := strconv.Atoi(strings.TrimSpace(answer("code")))
	return code
}

// dockerCommand names the command of docker's arguments: ps, compose-ps.
func dockerCommand(args []string) string {
	name := ""
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-p", a == "-f", a == "--profile", a == "--env-file":
			i++
		case strings.HasPrefix(a, "-"):
		case a == "compose" && name == "":
			name = "compose-"
		default:
			return name + a
		}
	}
	return name
}

// withDocker puts docker into bin in a folder, for the PATH, and its compose plugin, for
// DOCKER_CONFIG.
func withDocker(dir string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	for _, path := range [...]string{"bin/docker", "cli-plugins/docker-compose"} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.Symlink(exe, path); err != nil {
			return err
		}
	}
	return nil
}
