package sim

import "strconv"

// keys are the arguments by which requests are hashed, each made once.
type keys struct{ arguments [][]any }

func (k *keys) argument(key int32) []any {
	for int(key) >= len(k.arguments) {
		k.arguments = append(k.arguments, make([][]any, 1+int(key)-len(k.arguments))...)
	}
	if k.arguments[key] == nil {
		k.arguments[key] = []any{keyText(key)}
	}
	return k.arguments[key]
}

func keyText(key int32) string { return "key-" + strconv.Itoa(int(key)) }

func argumentText(argument any) string {
	text, _ := argument.(string)
	return text
}
