package interop

import (
	"maps"
	"reflect"
	"sync"
	"time"
)

// meter counts calls, as class Meter does.
type meter struct {
	mu             sync.Mutex
	started        time.Time
	calls          int64
	inFlight, peak int32
	byMethod       map[string]int64
}

func newMeter() *meter { return &meter{started: time.Now(), byMethod: map[string]int64{}} }

// counted makes a function that counts its calls.
func (m *meter) counted(signature string, function any) any {
	f := reflect.ValueOf(function)
	return reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
		m.begin(signature)
		defer m.end()
		return f.Call(args)
	}).Interface()
}

func (m *meter) begin(signature string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.byMethod[signature]++
	m.calls++
	m.inFlight++
	m.peak = max(m.peak, m.inFlight)
}

func (m *meter) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inFlight--
}

func (m *meter) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.started, m.calls, m.peak, m.byMethod = time.Now(), 0, m.inFlight, map[string]int64{}
}

func (m *meter) fill(who *ProviderInfo) {
	m.mu.Lock()
	defer m.mu.Unlock()
	who.StartedAt, who.Calls, who.InFlight, who.Peak = m.started.UnixMilli(), m.calls, m.inFlight, m.peak
	who.CallsByMethod = maps.Clone(m.byMethod)
}
