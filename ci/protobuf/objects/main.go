// Writes random objects of every built-in kind as the Go client reads and writes them, one a line: their
// protobuf, and the JSON of what was read from that.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/randfill"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func raw(c randfill.Continue) []byte {
	return []byte([]string{`{"a":{"b":[1,"two",null]}}`, `"text"`, `[true]`, `3`, `{}`}[c.Intn(5)])
}

func filler(seed int64) *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(.4).NumElements(0, 2).MaxDepth(12).Funcs(
		func(it *string, c randfill.Continue) {
			*it = []string{"", "a", "ümlaut", "some-longer-text", "line\nbreak"}[c.Intn(5)]
		},
		func(it *metav1.Time, c randfill.Continue) { *it = metav1.Unix(c.Int63n(1<<35)-1<<34, 0) },
		func(it *metav1.MicroTime, c randfill.Continue) {
			*it = metav1.NewMicroTime(time.Unix(c.Int63n(1<<33), 1000*c.Int63n(1_000_000)))
		},
		func(it *resource.Quantity, c randfill.Continue) {
			*it = resource.MustParse([]string{"0", "1", "250m", "1Gi", "1500m", "1e3", "-5k"}[c.Intn(7)])
			_ = it.String()
		},
		func(it *intstr.IntOrString, c randfill.Continue) {
			if c.Bool() {
				*it = intstr.FromInt32(c.Int31() - 1<<30)
			} else {
				*it = intstr.FromString("25%")
			}
		},
		func(it *runtime.RawExtension, c randfill.Continue) { it.Raw = raw(c) },
		func(it *metav1.FieldsV1, c randfill.Continue) { it.Raw = []byte(`{"f:data":{".":{},"f:key":{}}}`) },
		func(it *apiextensions.JSON, c randfill.Continue) { it.Raw = raw(c) },
		func(it *apiextensions.JSONSchemaPropsOrBool, c randfill.Continue) {
			it.Allows = c.Bool()
			if it.Allows && c.Bool() {
				it.Schema = &apiextensions.JSONSchemaProps{Type: "string"}
			}
		},
		func(it *apiextensions.JSONSchemaPropsOrArray, c randfill.Continue) {
			it.Schema = &apiextensions.JSONSchemaProps{}
			c.Fill(it.Schema)
		},
		func(it *apiextensions.JSONSchemaPropsOrStringArray, c randfill.Continue) {
			it.Property = []string{"a", "b"}
		},
		func(it *float64, c randfill.Continue) { *it = float64(c.Intn(100)) / 4 },
		func(it *[]byte, c randfill.Continue) { *it = []byte{0, 255, byte(c.Intn(256))} },
		// The kind of an object within another does not travel.
		func(it *metav1.TypeMeta, c randfill.Continue) {},
	)
}

func kinds(types *runtime.Scheme) []schema.GroupVersionKind {
	kinds := []schema.GroupVersionKind{}
	for kind, of := range types.AllKnownTypes() {
		isStable := !strings.Contains(kind.Version, "alpha") && !strings.Contains(kind.Version, "beta")
		if isStable && kind.Version != runtime.APIVersionInternal && strings.HasSuffix(of.PkgPath(), "/"+kind.Version) &&
			!strings.HasSuffix(of.PkgPath(), "meta/v1") {
			kinds = append(kinds, kind)
		}
	}
	kinds = append(kinds, metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
	kinds = append(kinds, metav1.SchemeGroupVersion.WithKind("PartialObjectMetadataList"))
	for _, kind := range []string{"Status", "DeleteOptions"} {
		kinds = append(kinds, metav1.Unversioned.WithKind(kind))
	}
	sort.Slice(kinds, func(a, b int) bool { return kinds[a].String() < kinds[b].String() })
	return kinds
}

func main() {
	types := scheme.Scheme
	must(apiextensions.AddToScheme(types))
	must(apiregistration.AddToScheme(types))
	must(metav1.AddMetaToScheme(types))
	count, err := strconv.Atoi(os.Args[1])
	must(err)
	seed, err := strconv.ParseInt(os.Args[2], 10, 64)
	must(err)
	wire := protobuf.NewSerializer(types, types)
	all := kinds(types)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for n := range count {
		kind := all[n%len(all)]
		object, err := types.New(kind)
		must(err)
		filler(seed + rand.New(rand.NewSource(int64(n))).Int63()).Fill(object)
		object.GetObjectKind().SetGroupVersionKind(kind)
		var bytes strings.Builder
		must(wire.Encode(object, &bytes))
		read, _, err := wire.Decode([]byte(bytes.String()), nil, nil)
		must(err)
		text, err := json.Marshal(read)
		must(err)
		fmt.Fprintf(out, "%s %s\n", base64.StdEncoding.EncodeToString([]byte(bytes.String())), text)
	}
}
