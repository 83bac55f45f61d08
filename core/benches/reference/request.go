package main

import (
	"net/url"
	"time"

	"k8s.io/client-go/rest"
)

func init() {
	reference["request: address, namespaced, status"] = func() float64 { return rounds(9, address) }
}

// written keeps the text from being optimised away.
var written string

// address writes the address of one request again and again.
func address() (time.Duration, int) {
	const operations = 100_000
	base := &url.URL{Scheme: "https", Host: "cluster:6443"}
	request := rest.NewRequestWithClient(base, "/apis/apps/v1", rest.ClientContentConfig{}, nil).
		Verb("GET").Namespace("default").Resource("deployments").Name("web").SubResource("status")
	took := timed(func() {
		for range operations {
			written = request.URL().String()
		}
	})
	if written != "https://cluster:6443/apis/apps/v1/namespaces/default/deployments/web/status" {
		fail("another address: " + written)
	}
	return took, operations
}
