package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// downloads is where the files of a release are.
const downloads = "https://github.com/tailrace/tailrace/releases/download/"

// A registryPackage is a package of a server in the registry. Its names are those of the
// registry's schema.
type registryPackage struct {
	RegistryType string            `json:"registryType"`
	Identifier   string            `json:"identifier"`
	FileSHA256   string            `json:"fileSha256"`
	Transport    registryTransport `json:"transport"`
}

type registryTransport struct {
	Type string `json:"type"`
}

// writeRegistry writes the entry of the registry for a bundle.
func writeRegistry(out string, template []byte, version, bundle string) error {
	if bundle == "" {
		return errors.New("an entry needs -bundle")
	}
	sum, err := fileSum(bundle)
	if err != nil {
		return err
	}
	d, err := parseDocument(template)
	if err != nil {
		return err
	}
	packages := []registryPackage{{
		RegistryType: "mcpb", Identifier: downloads + "v" + version + "/" + filepath.Base(bundle), FileSHA256: sum,
		Transport: registryTransport{"stdio"},
	}}
	if err := errors.Join(d.set("version", version), d.set("packages", packages)); err != nil {
		return err
	}
	text, err := d.text()
	if err != nil {
		return err
	}
	if err := validate(serverSchema, text); err != nil {
		return err
	}
	return os.WriteFile(out, text, 0o644)
}

func fileSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
