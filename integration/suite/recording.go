package suite

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"reflect"
	"slices"
)

// What the real servers showed, kept so that the fakes can be held against it where
// there are none. The integration tests compare it with the servers.
//
//go:embed testdata/*.json
var recordings embed.FS

// Protocol and Registry are the names of the recordings.
const (
	Protocol = "protocol"
	Registry = "registry"
)

// ZooKeeper is the version that the registry suite's observations are of.
const ZooKeeper = "ZooKeeper"

// recorded is one step of a recording.
type recorded struct {
	Row, Step string
	Outcomes  []shared
}

// shared is an outcome and the versions in which it is the same.
type shared struct {
	Versions []string
	Facts    Outcome
}

// Recorded returns what the real server of a version showed.
func Recorded(name, version string) ([]Observation, error) {
	b, err := recordings.ReadFile("testdata/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("suite: %w", err)
	}
	var steps []recorded
	if err := json.Unmarshal(b, &steps); err != nil {
		return nil, fmt.Errorf("suite: recording %s: %w", name, err)
	}
	var all []Observation
	for _, s := range steps {
		for _, o := range s.Outcomes {
			if slices.Contains(o.Versions, version) {
				all = append(all, Observation{Row: s.Row, Step: s.Step, Outcome: o.Facts})
			}
		}
	}
	if all == nil {
		return nil, fmt.Errorf("suite: recording %s: version %s is not in it", name, version)
	}
	return all, nil
}

// Record writes what real servers showed, by version, to the recording of a name in
// a folder.
func Record(folder, name string, worlds map[string][]Observation) error {
	var steps []recorded
	at := map[place]int{}
	for _, version := range slices.Sorted(maps.Keys(worlds)) {
		for _, o := range worlds[version] {
			i, known := at[place{o.Row, o.Step}]
			if !known {
				i = len(steps)
				at[place{o.Row, o.Step}] = i
				steps = append(steps, recorded{Row: o.Row, Step: o.Step})
			}
			steps[i].add(version, o.Outcome)
		}
	}
	b, err := json.MarshalIndent(steps, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path.Join(folder, name+".json"), append(b, '\n'), 0o644)
}

func (r *recorded) add(version string, facts Outcome) {
	for i, o := range r.Outcomes {
		if reflect.DeepEqual(o.Facts, facts) {
			r.Outcomes[i].Versions = append(o.Versions, version)
			return
		}
	}
	r.Outcomes = append(r.Outcomes, shared{[]string{version}, facts})
}
