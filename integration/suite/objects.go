package suite

import "github.com/gofer-rpc/gofer/integration/interop"

func items(numbers ...int) []*interop.Item {
	var all []*interop.Item
	for _, n := range numbers {
		all = append(all, interop.NewItem(n))
	}
	return all
}

func objectSteps(dubbo string) []step {
	rush := &interop.RushOrder{Order: *order(), Hours: 3}
	return []step{
		echoes("echoColor(org.gofer.interop.Color)", interop.Green, interop.Green),
		echoes[*interop.Color]("echoColor(org.gofer.interop.Color)", nil, nil),
		echoes("echoOperation(org.gofer.interop.Operation)", interop.Multiply, interop.Multiply),
		answers("apply(org.gofer.interop.Operation,int,int)", int32(42), interop.Multiply, int32(6), int32(7)),
		answers("apply(org.gofer.interop.Operation,int,int)", int32(13), interop.Add, int32(6), int32(7)),
		echoes("echoItem(org.gofer.interop.Item)", interop.NewItem(5), interop.NewItem(5)),
		echoes[*interop.Item]("echoItem(org.gofer.interop.Item)", nil, nil),
		echoes("echoAllTypes(org.gofer.interop.AllTypes)", &interop.AllTypes{}, &interop.AllTypes{PrimitiveChar: "\x00"}),
		echoes("echoAllTypes(org.gofer.interop.AllTypes)", everything(dubbo), everything(dubbo)),
		echoes("echoOrder(org.gofer.interop.Order)", order(), order()),
		answers("rush(org.gofer.interop.Order,int)", rush, order(), int32(3)),
		echoes("echoEmployee(org.gofer.interop.Employee)", team(), team()),
		answers("selfManaged(java.lang.String)", loner("solo"), "solo"),
		answers("page(int,int)", &interop.Page{Number: 1, Total: 1000, Rows: items(2, 3)}, int32(1), int32(2)),
	}
}

func collectionSteps() []step {
	some := map[string]*interop.Item{"a": interop.NewItem(1), "b": nil}
	return []step{
		echoes("echoStringList(java.util.List)", []string{"a", "b"}, []string{"a", "b"}),
		echoes("echoStringList(java.util.List)", []any{"a", nil}, []*string{ptr("a"), nil}),
		echoes("echoStringList(java.util.List)", []any{}, []string{}),
		echoes("echoLongList(java.util.List)", []int64{1, 2}, []int64{1, 2}),
		echoes("echoItemList(java.util.List)", items(1, 2), items(1, 2)),
		echoes("echoOrderList(java.util.List)", []*interop.Order{order()}, []*interop.Order{order()}),
		echoes("echoStringSet(java.util.Set)", []string{"one"}, []string{"one"}),
		echoes("echoItemSet(java.util.Set)", items(9), items(9)),
		echoes("echoStringMap(java.util.Map)", map[string]string{"a": "1", "b": ""}, map[string]string{"a": "1", "b": ""}),
		echoes("echoStringMap(java.util.Map)", map[string]any{"a": "1", "b": nil}, map[string]*string{"a": ptr("1"), "b": nil}),
		echoes("echoNumberMap(java.util.Map)", map[int32]int64{1: 2, 3: 4}, map[int32]int64{1: 2, 3: 4}),
		echoes("echoItemMap(java.util.Map)", some, some),
		echoes("echoNestedMap(java.util.Map)", map[string][]*interop.Item{"x": items(1)}, map[string][]*interop.Item{"x": items(1)}),
		answers("stock()", map[string]int32{"RED": 1, "BLUE": 3}),
		answers("sorted(java.util.List)", []string{"a", "b", "c"}, []string{"c", "a", "b"}),
	}
}

// overloadSteps call one name with every signature, stated and inferred.
func overloadSteps() []step {
	stated := func(types string, args ...any) step { return answers("overload"+types, "overload"+types, args...) }
	inferred := func(want string, arg any) step { return answers("overload", want, arg) }
	return []step{
		stated("()"), stated("(int)", int32(1)), stated("(long)", int64(1)), stated("(java.lang.Integer)", ptr(int32(1))),
		stated("(java.lang.String)", "x"), stated("(java.lang.Object)", "x"), stated("(int[])", []int32{1}),
		stated("(java.util.List)", []string{"x"}), stated("(java.lang.String,int)", "x", int32(1)),
		inferred("overload(int)", int32(2)), inferred("overload(long)", int64(2)),
		inferred("overload(java.lang.Integer)", ptr(int32(1))), inferred("overload(java.lang.String)", "y"),
		answers("overload", "overload()"),
	}
}

// describeSteps ask what arrived: an echo cannot tell a value that was misread on the
// way in and miswritten on the way out from a right one.
func describeSteps() []step {
	describe := func(want string, arg any) step { return answers("describe(java.lang.Object)", want, arg) }
	return []step{
		describe("null", nil),
		describe("java.lang.String x", "x"),
		describe("java.lang.Boolean true", true),
		describe("java.lang.Integer 1", int32(1)),
		describe("java.lang.Long 1", int64(1)),
		describe("java.lang.Double 0.1", 0.1),
		describe("byte[]{0, -1}", []byte{0, 255}),
		describe("int[]{1, 2}", []int32{1, 2}),
		describe("long[]{1, 2}", []int64{1, 2}),
		describe("java.lang.String[]{java.lang.String a, java.lang.String }", []string{"a", ""}),
		describe("java.util.ArrayList[java.lang.Long 1, null, java.lang.String x]", []any{int64(1), nil, "x"}),
		describe("java.util.HashMap{java.lang.String a=java.lang.Integer 1, java.lang.String b=null}", map[string]any{"b": nil, "a": int32(1)}),
		describe("java.math.BigDecimal 1.20", decimal("1.20")),
		describe("java.math.BigInteger 12", integer("12")),
		describe("org.gofer.interop.Color GREEN", interop.Green),
		describe("org.gofer.interop.Item", interop.NewItem(1)),
		describe("org.gofer.interop.Item[]{org.gofer.interop.Item}", items(1)),
	}
}
