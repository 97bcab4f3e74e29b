package suite

// Recorder takes the cells of a table, as harness.Table does.
type Recorder interface {
	Record(row, column, cell string)
}

// Tabulate writes two worlds side by side into a table with a column per version: for
// each row whether the real one is as expected, whether the fake one is, and whether
// they are the same.
func Tabulate(table Recorder, version string, real, fake []Observation) {
	different := map[string]bool{}
	for _, d := range Compare(real, fake) {
		different[d.Row] = true
	}
	reals, fakes := Marks(real), Marks(fake)
	for _, o := range append(real[:len(real):len(real)], fake...) {
		same := "yes"
		if different[o.Row] {
			same = "NO"
		}
		cell := ""
		for _, part := range []string{reals[o.Row], fakes[o.Row]} {
			if part == "" {
				part = "none"
			}
			cell += part + " / "
		}
		table.Record(o.Row, version, cell+same)
	}
}

// Marks tells by row whether all of its steps are as expected: "ok" or "FAIL".
func Marks(all []Observation) map[string]string {
	m := map[string]string{}
	for _, o := range all {
		if o.Wrong != "" {
			m[o.Row] = "FAIL"
		} else if m[o.Row] == "" {
			m[o.Row] = "ok"
		}
	}
	return m
}
