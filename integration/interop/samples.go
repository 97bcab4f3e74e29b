package interop

import (
	"fmt"
	"strings"
)

// NewItem is the item of a number, as page(int,int) answers it.
func NewItem(i int) *Item {
	it := &Item{
		Sku: fmt.Sprintf("sku-%d", i), Name: fmt.Sprintf("item %d", i), Quantity: int32(i%7 + 1),
		PriceCents: int64(100*i + 99), Weight: float64(i) / 4, Taxed: i%2 == 0, Warehouse: int32(i % 10),
		Revision: 1_000_000_000_000 + int64(i), Discount: 0.125,
	}
	if i%3 != 0 {
		note := "note"
		it.Note = &note
	}
	return it
}

// Text is what text(int) answers for a multiple of 20: so many UTF-16 units, of which
// every tenth pair is a surrogate pair.
func Text(units int) string { return strings.Repeat(strings.Repeat("ab", 9)+"🚀", units/20) }
