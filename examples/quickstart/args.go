package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// argument turns the text of an -arg into the Go value for a declared Java type.
func argument(java, text string) (any, error) {
	kind := strings.ToLower(strings.TrimPrefix(java, "java.lang."))
	if text == "null" && java != kind && kind != "string" { // primitives have no null
		return nil, nil
	}
	bad := func(v any, err error, remedy string) (any, error) {
		if err != nil {
			return nil, fmt.Errorf("a Java %s wants %s", java, remedy)
		}
		return v, nil
	}
	whole := func(bits int) (int64, error) { return strconv.ParseInt(text, 10, bits) }
	switch kind {
	case "string":
		return text, nil
	case "char", "character":
		if utf8.RuneCountInString(text) != 1 {
			return nil, fmt.Errorf("a Java %s wants one character, such as x", java)
		}
		return text, nil
	case "boolean":
		v, err := strconv.ParseBool(text)
		return bad(v, err, "true or false")
	case "byte":
		v, err := whole(8)
		return bad(int8(v), err, "a whole number from -128 to 127")
	case "short":
		v, err := whole(16)
		return bad(int16(v), err, "a whole number from -32768 to 32767")
	case "int", "integer":
		v, err := whole(32)
		return bad(int32(v), err, "a whole number of 32 bits, such as 42")
	case "long":
		v, err := whole(64)
		return bad(v, err, "a whole number, such as 42")
	case "float":
		v, err := strconv.ParseFloat(text, 32)
		return bad(float32(v), err, "a number, such as 1.5")
	case "double":
		v, err := strconv.ParseFloat(text, 64)
		return bad(v, err, "a number, such as 1.5")
	}
	v, err := fromJSON(text)
	if err != nil {
		return nil, fmt.Errorf("a Java %s is written as JSON, such as [1,2] or {\"name\":\"Ada\"}: %w", java, err)
	}
	return v, nil
}

// fromJSON reads a value, whole numbers as such.
func fromJSON(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, fmt.Errorf("there is more than one value")
	}
	return numbered(v), nil
}

// numbered replaces the numbers in a value that came from JSON by int64 or float64.
func numbered(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = numbered(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = numbered(v[k])
		}
	}
	return v
}
