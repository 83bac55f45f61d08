// Writes the table of the fields of every built-in kind, as the Go types of the API declare them: the
// number on the wire, the name in JSON, the type, and what JSON says of a field that nobody has set.
package main

import (
	"fmt"
	"reflect"
	"sort"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// The types whose JSON is not an object with their fields.
var special = map[reflect.Type]string{
	reflect.TypeFor[metav1.Time]():                                "time",
	reflect.TypeFor[metav1.MicroTime]():                           "microtime",
	reflect.TypeFor[resource.Quantity]():                          "quantity",
	reflect.TypeFor[intstr.IntOrString]():                         "int-or-string",
	reflect.TypeFor[runtime.RawExtension]():                       "raw",
	reflect.TypeFor[metav1.FieldsV1]():                            "raw",
	reflect.TypeFor[apiextensions.JSON]():                         "raw",
	reflect.TypeFor[apiextensions.JSONSchemaPropsOrBool]():        "schema-or-bool",
	reflect.TypeFor[apiextensions.JSONSchemaPropsOrArray]():       "schema-or-list",
	reflect.TypeFor[apiextensions.JSONSchemaPropsOrStringArray](): "schema-or-strings",
}

// Whose message is one repeated text.
type marshaler interface{ MarshalTo([]byte) (int, error) }

var messages = map[string]map[string][]string{}

func parts(t reflect.Type) (string, string) {
	path := t.PkgPath()
	for _, prefix := range []string{"/api/", "/apis/"} {
		if at := strings.LastIndex(path, prefix); at >= 0 {
			path = path[at+len(prefix):]
		}
	}
	return path, t.Name()
}

func name(t reflect.Type, from string) string {
	visit(t)
	home, name := parts(t)
	if home == from {
		return name
	}
	return home + "." + name
}

func text(t reflect.Type, from string) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if known, ok := special[t]; ok {
		if strings.HasPrefix(known, "schema") {
			visit(reflect.TypeFor[apiextensions.JSONSchemaProps]())
		}
		return known
	}
	switch t.Kind() {
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		if reflect.PointerTo(t).Implements(reflect.TypeFor[marshaler]()) {
			return "strings"
		}
		return "[" + text(t.Elem(), from) + "]"
	case reflect.Map:
		return "{" + text(t.Elem(), from) + "}"
	case reflect.Struct:
		return name(t, from)
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Float64:
		return t.Kind().String()
	}
	panic(fmt.Sprint("no such type: ", t))
}

// What JSON says of a field without a value: nothing; nothing if it is the zero; the zero itself.
func mark(t reflect.Type, flags []string) string {
	has := func(flag string) bool { return strings.Contains(strings.Join(flags, ","), flag) }
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return ""
	case reflect.Struct:
		if !has("omitzero") {
			return "!"
		}
	}
	if has("omitempty") || has("omitzero") {
		return "="
	}
	return "!"
}

func visit(t reflect.Type) {
	home, own := parts(t)
	if messages[home] == nil {
		messages[home] = map[string][]string{}
	}
	if _, done := messages[home][own]; done {
		return
	}
	messages[home][own] = nil
	lines := map[int]string{}
	for field := range t.Fields() {
		tag, ok := field.Tag.Lookup("protobuf")
		if !ok {
			continue
		}
		var number int
		fmt.Sscan(strings.Split(tag, ",")[1], &number)
		flags := strings.Split(field.Tag.Get("json"), ",")
		key := flags[0] + mark(field.Type, flags[1:])
		if flags[0] == "" {
			key = "*"
		}
		lines[number] = fmt.Sprintf("%d %s %s", number, key, text(field.Type, home))
	}
	numbers := []int{}
	for number := range lines {
		numbers = append(numbers, number)
	}
	sort.Ints(numbers)
	for _, number := range numbers {
		messages[home][own] = append(messages[home][own], lines[number])
	}
}

func sorted[T any](of map[string]T) []string {
	keys := []string{}
	for key := range of {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

func main() {
	types := scheme.Scheme
	for _, add := range []func(*runtime.Scheme) error{apiextensions.AddToScheme, apiregistration.AddToScheme} {
		if err := add(types); err != nil {
			panic(err)
		}
	}
	groups := map[string]string{}
	for kind, of := range types.AllKnownTypes() {
		home, _ := parts(of)
		isStable := !strings.Contains(kind.Version, "alpha") && !strings.Contains(kind.Version, "beta")
		if isStable && kind.Version != runtime.APIVersionInternal && strings.HasSuffix(home, "/"+kind.Version) && home != "meta/v1" {
			groups[home] = kind.GroupVersion().String()
			visit(of)
		}
	}
	groups["meta/v1"] = "meta.k8s.io/v1"
	for _, of := range []any{metav1.Status{}, metav1.DeleteOptions{}, metav1.WatchEvent{}, metav1.PartialObjectMetadata{}, metav1.PartialObjectMetadataList{}} {
		visit(reflect.TypeOf(of))
	}
	for _, home := range sorted(messages) {
		fmt.Println(home, groups[home])
		for _, own := range sorted(messages[home]) {
			fmt.Println("", own)
			for _, line := range messages[home][own] {
				fmt.Println(" ", line)
			}
		}
	}
}
