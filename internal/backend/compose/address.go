package compose

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tailrace/tailrace/internal/backend"
)

// maxMeta is the largest file of the docker command that is read, in bytes.
const maxMeta = 1 << 20

var (
	errAddress = &backend.Error{
		Code: backend.CodeUsage, Problem: "the address of the Docker engine cannot be used: check DOCKER_HOST, DOCKER_CERT_PATH and `docker context ls`",
	}
	errSSH = &backend.Error{
		Code: backend.CodeUsage, Problem: "a Docker engine behind ssh cannot be read: forward its socket, and set DOCKER_HOST to that",
	}
	errContext = &backend.Error{
		Code: backend.CodeUsage, Problem: "the docker command has no such context: check DOCKER_CONTEXT and `docker context ls`",
	}
)

// An address says where an engine is. Empty members are the client's defaults.
type address struct{ host, ca, cert, key string }

// addressOf returns where the engine is that an environment means: as for the docker
// command, that of DOCKER_HOST, else that of its context. The error is an *[backend.Error].
func addressOf(env []string) (address, error) {
	get := func(name string) string {
		for _, v := range slices.Backward(env) {
			if rest, ok := strings.CutPrefix(v, name+"="); ok {
				return rest
			}
		}
		return ""
	}
	dir := get("DOCKER_CONFIG")
	if dir == "" {
		home := get("HOME")
		if runtime.GOOS == "windows" {
			home = get("USERPROFILE")
		}
		dir = filepath.Join(home, ".docker")
	}
	a := address{host: get("DOCKER_HOST")}
	if a.host != "" {
		if get("DOCKER_TLS_VERIFY") != "" || get("DOCKER_TLS") != "" {
			certs := get("DOCKER_CERT_PATH")
			if certs == "" {
				certs = dir
			}
			a.ca, a.cert, a.key = filepath.Join(certs, "ca.pem"), filepath.Join(certs, "cert.pem"), filepath.Join(certs, "key.pem")
		}
		return a, a.check()
	}
	name := get("DOCKER_CONTEXT")
	if name == "" {
		var config struct {
			CurrentContext string `json:"currentContext"`
		}
		readMeta(filepath.Join(dir, "config.json"), &config)
		name = config.CurrentContext
	}
	if name == "" || name == "default" {
		return a, nil
	}
	id := idOf(name)
	var meta struct {
		Endpoints map[string]struct{ Host string }
	}
	if !readMeta(filepath.Join(dir, "contexts", "meta", id, "meta.json"), &meta) {
		return a, errContext
	}
	a.host = meta.Endpoints["docker"].Host
	files := filepath.Join(dir, "contexts", "tls", id, "docker")
	for _, f := range [...]struct {
		name string
		into *string
	}{{"ca.pem", &a.ca}, {"cert.pem", &a.cert}, {"key.pem", &a.key}} {
		if path := filepath.Join(files, f.name); fileExists(path) {
			*f.into = path
		}
	}
	return a, a.check()
}

// idOf is the name of the folder of a context.
func idOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}

// check refuses what the client does not know.
func (a address) check() error {
	u, err := url.Parse(a.host)
	switch {
	case err != nil:
		return errAddress
	case u.Scheme == "ssh":
		return errSSH
	}
	return nil
}

func fileExists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// readMeta reads a JSON file of the docker command. It is false where there is none that can
// be read.
func readMeta(path string, into any) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxMeta {
		return false
	}
	data, err := os.ReadFile(path)
	return err == nil && json.Unmarshal(data, into) == nil
}
