package url

import "strings"

// Markdown returns the parameter table as the README shows it: one table for each
// group of parameters.
func Markdown() string {
	var b strings.Builder
	for i, s := range sections {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("#### " + s.title + "\n\n")
		b.WriteString("| Parameter | Type | Default | On the URL of a | Per method | Meaning |\n")
		b.WriteString("|---|---|---|---|---|---|\n")
		for _, p := range s.rows {
			b.WriteString(p.markdown())
		}
	}
	return b.String()
}

func (p Parameter) markdown() string {
	kind, def, method := p.Type.String(), "", ""
	if p.Type == TypeChoice {
		kind = "`" + strings.Join(p.Values, "`, `") + "`"
	}
	if p.Default != "" {
		def = "`" + p.Default + "`"
	}
	if p.Level == LevelMethod {
		method = "yes"
	}
	doc := p.Doc
	if p.Ignored {
		doc += " *Accepted without effect.*"
	}
	cells := []string{"`" + p.Key + "`", kind, def, p.Scope.String(), method, doc}
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}
