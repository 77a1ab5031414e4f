package project

import (
	"path/filepath"
	"strings"
)

// sourceShape says what a source is.
const sourceShape = "a source is a mapping with one of the keys file, files, command, journal, kubernetes, loki and compose, such as {file: PATH} or {command: [PROGRAM, ARGUMENT...]}"

func readSource(n node, dir string) (Source, error) {
	s := Source{Dir: dir}
	pairs, err := n.pairs(sourceShape)
	if err != nil {
		return s, err
	}
	var kind, commandOnly node
	for _, p := range pairs {
		switch p.key {
		case "dir":
			commandOnly = p.at
			s.Dir, err = readPath(p.value, dir, "dir is the path of a folder")
		case "env":
			commandOnly = p.at
			s.Env, err = readEnv(p.value)
		default:
			if err = readKind(&s, p, dir); err == nil && kind.Node != nil {
				return s, n.problem("a source is of one kind, not both of two: make two sources")
			}
			kind = p.at
		}
		if err != nil {
			return s, err
		}
	}
	switch {
	case kind.Node == nil:
		return s, n.problem(sourceShape)
	case s.Command == nil && commandOnly.Node != nil:
		return s, commandOnly.problem("dir and env belong to a command: remove them")
	case s.Command == nil:
		s.Dir = ""
	}
	return s, nil
}

// readKind reads the member that says what a source is.
func readKind(s *Source, p pair, dir string) (err error) {
	switch p.key {
	case "file":
		s.File, err = readPath(p.value, dir, "file is the path of one log file: give a text, or use files for several")
	case "files":
		s.Files, err = readFiles(p.value, dir)
	case "command":
		s.Command, err = readCommand(p.value)
	case "journal":
		s.Journal, err = readJournal(p.value, dir)
	case "kubernetes":
		s.Kubernetes, err = readKubernetes(p.value)
	case "loki":
		s.Loki, err = readLoki(p.value, dir)
	case "compose":
		s.Compose, err = readCompose(p.value)
	default:
		return p.at.problem("unknown key: the keys of a source are file, files, journal, kubernetes, loki, compose, or command with dir and env")
	}
	return err
}

// maxFiles is how many paths and patterns a source can have.
const maxFiles = 100

func readFiles(n node, dir string) ([]string, error) {
	const rule = "files is a list of paths of log files and of patterns with *, ? and [], such as [logs/*.log]"
	elements, err := n.elements(rule)
	if err != nil {
		return nil, err
	}
	if len(elements) == 0 || len(elements) > maxFiles {
		return nil, n.problem(rule + ": at least 1 and at most 100")
	}
	var files []string
	for _, e := range elements {
		path, err := readPath(e, dir, rule)
		if err != nil {
			return nil, err
		}
		if _, err := filepath.Match(path, ""); err != nil {
			return nil, e.problem("this pattern cannot be read: close its brackets")
		}
		files = append(files, path)
	}
	return files, nil
}

func readJournal(n node, dir string) (*Journal, error) {
	const shape = "journal is a mapping with the keys unit, units, identifier, priority, file, directory and user; {} is all of the system's journal"
	j := &Journal{}
	pairs, err := n.pairs(shape)
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		switch p.key {
		case "unit":
			var unit string
			unit, err = p.value.matching(unitName, unitRule)
			j.Units = append(j.Units, unit)
		case "units":
			var units []string
			units, err = p.value.listOf(unitName, unitRule)
			j.Units = append(j.Units, units...)
		case "identifier":
			j.Identifier, err = p.value.matching(plainText, textRule)
		case "priority":
			j.Priority, err = p.value.matching(priorityName, "a priority is one of emerg, alert, crit, err, warning, notice, info and debug")
		case "file":
			j.File, err = readPath(p.value, dir, "file is the path of a journal file")
		case "directory":
			j.Directory, err = readPath(p.value, dir, "directory is the path of a folder of journal files")
		case "user":
			j.User, err = p.value.truth()
		default:
			err = p.at.problem("unknown key: " + shape)
		}
		if err != nil {
			return nil, err
		}
	}
	if j.File != "" && j.Directory != "" {
		return nil, n.problem("a journal has a file or a directory, not both: make two sources")
	}
	return j, nil
}

func readKubernetes(n node) (*Kubernetes, error) {
	const shape = "kubernetes is a mapping with the keys selector or pod, namespace, context, container and previous"
	k := &Kubernetes{}
	pairs, err := n.pairs(shape)
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		switch p.key {
		case "selector":
			k.Selector, err = p.value.matching(selectorText, "a selector is one such as app=web,tier!=cache or app in (web, api)")
		case "pod":
			k.Pod, err = p.value.matching(kubeName, kubeRule)
		case "namespace":
			k.Namespace, err = p.value.matching(kubeName, kubeRule)
		case "container":
			k.Container, err = p.value.matching(kubeName, kubeRule)
		case "context":
			k.Context, err = p.value.matching(plainText, textRule)
		case "previous":
			k.Previous, err = p.value.truth()
		default:
			err = p.at.problem("unknown key: " + shape)
		}
		if err != nil {
			return nil, err
		}
	}
	if (k.Selector == "") == (k.Pod == "") {
		return nil, n.problem("kubernetes needs a selector or a pod, and not both: add selector, such as app=web")
	}
	return k, nil
}

func readLoki(n node, dir string) (*Loki, error) {
	const shape = "loki is a mapping with the keys url, query, tenant, username with password_env, token_env and ca; {} is all of the project on the local server"
	l := &Loki{}
	pairs, err := n.pairs(shape)
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		switch p.key {
		case "url":
			if l.URL, err = p.value.matching(httpURL, urlRule); err == nil && !cleanURL(l.URL) {
				err = p.value.problem(urlRule)
			}
		case "query":
			const rule = `query is a log query, such as '{service="web"} |= "error"'`
			if l.Query, err = p.value.text(rule); err == nil && strings.TrimSpace(l.Query) == "" {
				err = p.value.problem(rule)
			}
		case "tenant":
			l.Tenant, err = p.value.matching(plainText, textRule)
		case "username":
			l.Username, err = p.value.matching(plainText, textRule)
		case "password_env":
			l.PasswordEnv, err = p.value.matching(envName, envRule)
		case "token_env":
			l.TokenEnv, err = p.value.matching(envName, envRule)
		case "ca":
			l.CA, err = readPath(p.value, dir, "ca is the path of a file of certificates in PEM")
		case "password", "token":
			// By its own name, since that is where it would be looked for.
			err = p.at.problem("a secret does not belong into this file: put it into an environment variable, and its name into password_env or token_env")
		default:
			err = p.at.problem("unknown key: " + shape)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case (l.Username == "") != (l.PasswordEnv == ""):
		return nil, n.problem("username and password_env belong together: add the other one")
	case l.Username != "" && l.TokenEnv != "":
		return nil, n.problem("username and token_env exclude each other: remove one")
	}
	return l, nil
}

func readCompose(n node) (*Compose, error) {
	const shape = "compose is a mapping with the keys project and services; {} is all of the project's compose file"
	const rule = "a service is the name of one in the compose file"
	c := &Compose{}
	pairs, err := n.pairs(shape)
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		switch p.key {
		case "project":
			c.Project, err = p.value.matching(projectName, "project is the name of a compose project: small letters, digits, dashes and underscores")
		case "services":
			c.Services, err = p.value.listOf(serviceName, rule)
		default:
			err = p.at.problem("unknown key: " + shape)
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}
