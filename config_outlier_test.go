package gofer

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The parameters of outlier ejection can be set wherever others can, for all
// references or one.
func TestOutlierParametersInFiles(t *testing.T) {
	cfg := loaded(t, "application.yml", `
dubbo:
  consumer:
    outlier.pause: 2s
  references:
    orders:
      interface: com.example.OrderService
      outlier.failures: 3
    stock:
      interface: com.example.StockService
      outlier: false
`, "application.properties", "dubbo.reference.com.example.OrderService.outlier.pause=500\n")
	orders, stock := referenceURL(t, cfg, "orders"), referenceURL(t, cfg, "stock")
	assert.Equal(t, "3", orders.Param("outlier.failures"))
	assert.Equal(t, "500", orders.Param("outlier.pause"))
	assert.Equal(t, "false", stock.Param("outlier"))
	assert.Equal(t, "2s", stock.Param("outlier.pause"))
	assert.Equal(t, "3 application.yml:8", value(t, cfg, "orders", "outlier.failures"))
	assert.Empty(t, cfg.Warnings())
}
