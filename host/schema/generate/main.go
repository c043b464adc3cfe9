// Writes ../data/builtin.txt: the facts about Kubernetes' built-in types that the
// host walks at run time (names, types, protobuf tags, omitempty, list keys, defaults,
// enums), and no text of theirs. Run in this folder: go run . > ../data/builtin.txt
//
// Types, JSON names and tags come from reflection over the released Go modules; list
// types, keys, defaults, enums and optionality from the marker comments in their source.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"sort"
	"strings"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	apps "k8s.io/api/apps/v1"
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	certificates "k8s.io/api/certificates/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	events "k8s.io/api/events/v1"
	flowcontrol "k8s.io/api/flowcontrol/v1"
	networking "k8s.io/api/networking/v1"
	node "k8s.io/api/node/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	resource "k8s.io/api/resource/v1"
	scheduling "k8s.io/api/scheduling/v1"
	storage "k8s.io/api/storage/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

var groups = []func(*runtime.Scheme) error{
	admissionregistration.AddToScheme, apps.AddToScheme, authentication.AddToScheme, authorization.AddToScheme,
	autoscalingv1.AddToScheme, autoscalingv2.AddToScheme, batch.AddToScheme, certificates.AddToScheme,
	coordination.AddToScheme, core.AddToScheme, discovery.AddToScheme, events.AddToScheme, flowcontrol.AddToScheme,
	networking.AddToScheme, node.AddToScheme, policy.AddToScheme, rbac.AddToScheme, resource.AddToScheme,
	scheduling.AddToScheme, storage.AddToScheme, apiextensions.AddToScheme, apiregistration.AddToScheme,
}

// Types without a group of their own that requests and answers carry.
var extra = []any{
	meta.DeleteOptions{}, meta.CreateOptions{}, meta.UpdateOptions{}, meta.PatchOptions{}, meta.ListOptions{},
	meta.Status{}, meta.WatchEvent{}, meta.APIResourceList{}, meta.APIGroupList{}, meta.APIGroup{}, meta.APIVersions{},
	meta.PartialObjectMetadata{}, meta.LabelSelector{}, meta.Condition{}, runtime.Unknown{}, meta.List{},
}

// Go types with a JSON form of their own, and the letters by which the table calls them.
var leaves = map[string]string{
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                                         "q",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":                                       "x",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                                             "t",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":                                        "u",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":                                         "n",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":                                         "F",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":                                          "R",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON":                         "J",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrBool":        "B",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrArray":       "A",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrStringArray": "P",
}

// What the comments of one source package say.
type source struct {
	fields map[string][]string // Type.Field and Type → comment lines
	enums  map[string][]string // Type → values of its constants
}

var sources = map[string]*source{}

func sourceOf(pkg string) *source {
	if s, ok := sources[pkg]; ok {
		return s
	}
	s := &source{fields: map[string][]string{}, enums: map[string][]string{}}
	sources[pkg] = s
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", pkg).Output()
	if err != nil {
		return s
	}
	dir := strings.TrimSpace(string(out))
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") || strings.Contains(f, "generated") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.ParseComments)
		if err != nil {
			panic(err)
		}
		for _, d := range tree.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					doc := spec.Doc
					if doc == nil {
						doc = g.Doc
					}
					s.fields[spec.Name.Name] = lines(doc)
					if st, ok := spec.Type.(*ast.StructType); ok {
						for _, f := range st.Fields.List {
							for _, n := range f.Names {
								s.fields[spec.Name.Name+"."+n.Name] = lines(f.Doc)
							}
							if len(f.Names) == 0 {
								t := f.Type
								if p, ok := t.(*ast.StarExpr); ok {
									t = p.X
								}
								name := ""
								switch t := t.(type) {
								case *ast.Ident:
									name = t.Name
								case *ast.SelectorExpr:
									name = t.Sel.Name
								}
								s.fields[spec.Name.Name+"."+name] = lines(f.Doc)
							}
						}
					}
				case *ast.ValueSpec:
					if id, ok := spec.Type.(*ast.Ident); ok && g.Tok == token.CONST {
						for _, v := range spec.Values {
							if l, ok := v.(*ast.BasicLit); ok && l.Kind == token.STRING {
								var text string
								if json.Unmarshal([]byte(l.Value), &text) == nil {
									s.enums[id.Name] = append(s.enums[id.Name], text)
								}
							}
						}
					}
				}
			}
		}
	}
	return s
}

func lines(doc *ast.CommentGroup) []string {
	if doc == nil {
		return nil
	}
	var all []string
	for _, c := range doc.List {
		all = append(all, strings.TrimSpace(strings.TrimPrefix(c.Text, "//")))
	}
	return all
}

type notes []string

func (n notes) get(key string) (string, bool) {
	for _, l := range n {
		if rest, ok := strings.CutPrefix(l, "+"+key); ok {
			if rest == "" {
				return "", true
			}
			if v, ok := strings.CutPrefix(rest, "="); ok {
				return strings.TrimSpace(v), true
			}
		}
	}
	return "", false
}

func (n notes) all(key string) []string {
	var found []string
	for _, l := range n {
		if v, ok := strings.CutPrefix(l, "+"+key+"="); ok {
			found = append(found, strings.Trim(strings.TrimSpace(v), `"`))
		}
	}
	return found
}

func defName(t reflect.Type) string {
	parts := strings.SplitN(t.PkgPath(), "/", 2)
	host := strings.Split(parts[0], ".")
	for i, j := 0, len(host)-1; i < j; i, j = i+1, j-1 {
		host[i], host[j] = host[j], host[i]
	}
	return strings.Join(host, ".") + "." + strings.ReplaceAll(parts[1], "/", ".") + "." + t.Name()
}

var (
	queue []reflect.Type
	seen  = map[string]bool{}
)

func refer(t reflect.Type) string {
	name := defName(t)
	if !seen[name] {
		seen[name] = true
		queue = append(queue, t)
	}
	return "#" + name
}

// The table's expression for a type; the comments are those of the field that has it.
func expr(t reflect.Type, n notes) string {
	if t.Kind() == reflect.Pointer {
		return expr(t.Elem(), n)
	}
	if l, ok := leaves[t.PkgPath()+"."+t.Name()]; ok {
		if l == "A" || l == "B" || l == "P" {
			refer(reflect.TypeFor[apiextensions.JSONSchemaProps]())
		}
		return l
	}
	// Types' own comments count below those of the field.
	if t.PkgPath() != "" {
		n = append(append(notes{}, n...), sourceOf(t.PkgPath()).fields[t.Name()]...)
	}
	switch t.Kind() {
	case reflect.String:
		if _, ok := n.get("enum"); ok && t.PkgPath() != "" {
			values := append([]string{}, sourceOf(t.PkgPath()).enums[t.Name()]...)
			sort.Strings(values)
			if len(values) > 0 {
				b, _ := json.Marshal(values)
				return "e" + strings.ReplaceAll(string(b), " ", "\\u0020")
			}
		}
		return "s"
	case reflect.Bool:
		return "b"
	case reflect.Int32, reflect.Uint32, reflect.Int16:
		return "i"
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "l"
	case reflect.Float64, reflect.Float32:
		return "d"
	case reflect.Uint8:
		return "i"
	case reflect.Interface:
		return "R"
	case reflect.Struct:
		return refer(t)
	case reflect.Map:
		return "{}" + expr(t.Elem(), nil)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "y"
		}
		kind := ""
		if v, ok := n.get("listType"); ok {
			switch v {
			case "set":
				kind = "set"
			case "map":
				kind = "map:" + strings.Join(n.all("listMapKey"), ",")
			}
		}
		pre := "[" + kind + "]"
		if t.Name() != "" && t.PkgPath() != "" && t.Elem().Kind() == reflect.String {
			// A named list of text is a message of its own in protobuf.
			pre = "w" + pre
		}
		return pre + expr(t.Elem(), nil)
	}
	panic(fmt.Sprintf("no expression for %v", t))
}

var tagNumber = regexp.MustCompile(`^[a-z0-9]+,(\d+)`)

func describe(w *bufio.Writer, t reflect.Type) {
	s := sourceOf(t.PkgPath())
	own := notes(s.fields[t.Name()])
	line := "T " + strings.TrimPrefix(refer(t), "#")
	if v, _ := own.get("structType"); v == "atomic" {
		line += " atomic"
	}
	fmt.Fprintln(w, line)
	members(w, t)
}

func members(w *bufio.Writer, t reflect.Type) {
	s := sourceOf(t.PkgPath())
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		tag, has := f.Tag.Lookup("json")
		parts := strings.Split(tag, ",")
		name, options := parts[0], parts[1:]
		number := "0"
		if m := tagNumber.FindStringSubmatch(f.Tag.Get("protobuf")); m != nil {
			number = m[1]
		}
		inline := f.Anonymous && name == ""
		for _, o := range options {
			inline = inline || o == "inline"
		}
		if name == "-" || (!has && !inline) {
			continue
		}
		if inline {
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if number == "0" {
				members(w, inner)
			} else {
				fmt.Fprintf(w, "^ %s %s\n", number, refer(inner))
			}
			continue
		}
		n := notes(s.fields[t.Name()+"."+f.Name])
		omitempty, omitzero := false, false
		for _, o := range options {
			omitempty = omitempty || o == "omitempty"
			omitzero = omitzero || o == "omitzero"
		}
		flags := ""
		kind := f.Type.Kind()
		nilable := kind == reflect.Pointer || kind == reflect.Slice || kind == reflect.Map || kind == reflect.Interface
		switch {
		case omitzero, omitempty && kind != reflect.Pointer && kind != reflect.Struct:
			flags += "o"
		case omitempty && kind == reflect.Pointer:
		case nilable:
			flags += "n" // written as null when absent
		default:
			flags += "z" // written with its zero value when absent
		}
		_, optional := n.get("optional")
		_, required := n.get("required")
		if required || !optional && !omitempty && !omitzero {
			flags += "r"
		}
		if flags == "" {
			flags = "-"
		}
		line := fmt.Sprintf("%s %s %s %s", name, number, flags, expr(f.Type, n))
		if v, _ := n.get("structType"); v == "atomic" {
			line += " atomic"
		}
		if v, _ := n.get("mapType"); v == "atomic" {
			line += " atomic"
		}
		if v := f.Tag.Get("patchStrategy"); v != "" {
			line += " strategy=" + v
		}
		if v := f.Tag.Get("patchMergeKey"); v != "" {
			line += " key=" + v
		}
		if v, ok := n.get("default"); ok && !strings.HasPrefix(v, "ref(") {
			var parsed any
			if json.Unmarshal([]byte(v), &parsed) == nil {
				b, _ := json.Marshal(parsed)
				line += " default=" + strings.ReplaceAll(string(b), " ", "\\u0020")
			} else {
				fmt.Fprintln(os.Stderr, "default of", t, f.Name, "is not JSON:", v)
			}
		}
		fmt.Fprintln(w, line)
	}
}

func main() {
	scheme := runtime.NewScheme()
	for _, add := range groups {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	var kinds []string
	for gvk, t := range scheme.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal || t.PkgPath() == "k8s.io/apimachinery/pkg/apis/meta/v1" {
			continue
		}
		kinds = append(kinds, fmt.Sprintf("K %s %s %s", gvk.GroupVersion(), gvk.Kind, strings.TrimPrefix(refer(t), "#")))
	}
	for _, e := range extra {
		refer(reflect.TypeOf(e))
	}
	sort.Strings(kinds)
	sections := map[string]string{}
	for len(queue) > 0 {
		t := queue[0]
		queue = queue[1:]
		var b strings.Builder
		w := bufio.NewWriter(&b)
		describe(w, t)
		w.Flush()
		sections[defName(t)] = b.String()
	}
	names := make([]string, 0, len(sections))
	for n := range sections {
		names = append(names, n)
	}
	sort.Strings(names)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintln(out, "# Facts about Kubernetes v1.36's built-in types, generated: see ../generate/main.go. Form: ../src/builtin/read.rs.")
	for _, k := range kinds {
		fmt.Fprintln(out, k)
	}
	for _, n := range names {
		fmt.Fprint(out, sections[n])
	}
}
