package mcp

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/http"
	"testing"
	"time"
)

// selfSigned makes a certificate for 127.0.0.1, and the pool that trusts it.
func selfSigned(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true, IsCA: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// Over TLS the server is the same, and clear text is no way in.
func TestHTTP_TLS(t *testing.T) {
	cert, pool := selfSigned(t)
	w := openWeb(t, "logs:3", func(o *HTTPOptions) {
		o.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	})
	clear := w.url
	w.url = "https" + clear[len("http"):]
	w.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	id := w.greet()
	if r := w.call(id, "1", SnapshotTool, `{}`); !*r.Structured.OK || r.data(t).Count != 5 {
		t.Errorf("O1: %s", r.raw)
	}
	// The origin of a page of this server is https, too.
	for origin, want := range map[string]int{w.url: http.StatusOK, clear: http.StatusForbidden} {
		if resp, _ := w.do(w.request(t.Context(), http.MethodGet, "/healthz", nil, "Origin", origin)); resp.StatusCode != want {
			t.Errorf("%s of origin %s", resp.Status, origin)
		}
	}
	w.client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, clear+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	plain := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if resp, err := plain.Do(r); err == nil {
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			t.Error("clear text is answered")
		}
	}
}
