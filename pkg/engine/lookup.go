package engine

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/feature/prompt"
	"mcp-bash/pkg/feature/resource"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/feature/tool/paramheader"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/provider/ui"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/text/urimatch"
)

// A Find returns the entry for a text in the current registry, or nil. Its error is for the client.
type Find = func(ctx context.Context, text string) (json.RawMessage, error)

// Lookup returns a Find for items of a kind by name.
func (e *Engine) Lookup(kind *kinds.Kind) Find {
	return func(ctx context.Context, name string) (json.RawMessage, error) {
		list, err := e.Catalog.List(ctx, kind)
		if err != nil {
			return nil, kind.Unavailable(err)
		}
		item, ok := list.Find(name)
		for i := range list.Withheld {
			if w := &list.Withheld[i]; !ok && w.Name == name {
				return nil, w.Refusal(kind)
			}
		}
		return item.JSON, nil
	}
}

// nearest returns the tool whose folder has an unknown name, or else the tool with the most similar name, or "". It
// only considers tools that the current level offers.
func (e *Engine) nearest(ctx context.Context, name string) string {
	list, err := e.Catalog.List(ctx, kinds.Tools)
	if err != nil {
		return ""
	}
	var names []string
	for _, item := range list.Items {
		if e.Level.Refusal(item.JSON) != nil {
			continue
		}
		if strings.HasPrefix(rawjson.TextOf(item.JSON, "path"), name+"/") {
			return item.Name
		}
		names = append(names, item.Name)
	}
	return cli.Nearest(name, names)
}

// setIndexes sets the functions that find items by other texts than their names, and those for all items of a kind.
func (e *Engine) setIndexes() {
	e.ResourceByURI = indexed(e, kinds.Resources, func(i item.Item) (string, *resource.Entry) {
		entry := resource.NewEntry(e.Project, i.JSON)
		return entry.URI(), entry
	})
	e.Prompt = indexed(e, kinds.Prompts, func(i item.Item) (string, *prompt.Entry) {
		return i.Name, prompt.NewEntry(i.JSON)
	})
	e.TemplateByText = indexed(e, kinds.Templates, func(i item.Item) (string, json.RawMessage) {
		return templateOf(i.JSON), i.JSON
	})
	e.Templates = derived(e, kinds.Templates, func(list *registry.List) *urimatch.Set {
		templates := make([]urimatch.Template, len(list.Items))
		for i, item := range list.Items {
			templates[i] = urimatch.Template{Name: item.Name, Text: templateOf(item.JSON),
				MIMEType: rawjson.TextOf(item.JSON, "mimeType")}
		}
		return urimatch.NewSet(templates)
	})
	e.ParamHeaders = derived(e, kinds.Tools, func(list *registry.List) map[string][]paramheader.Param {
		params := map[string][]paramheader.Param{}
		for _, item := range list.Items {
			if of, _ := paramheader.Parse(rawjson.Get(item.JSON, "inputSchema")); len(of) > 0 {
				params[item.Name] = of
			}
		}
		return params
	})
	e.LongRunning = derived(e, kinds.Tools, func(list *registry.List) (long map[string]tool.LongRunning) {
		for _, item := range list.Items {
			if declared, ok := tool.ParseLongRunning(item.JSON); ok {
				if long == nil {
					long = map[string]tool.LongRunning{}
				}
				long[item.Name] = declared
			}
		}
		return long
	})
	e.ToolsOfPage = lookup(derived(e, kinds.Tools, func(list *registry.List) map[string][]string {
		tools := map[string][]string{}
		for _, item := range list.Items {
			link, _ := rawjson.Text(rawjson.Path(item.JSON, "_meta", "ui", "resourceUri"))
			if page, err := ui.Name(link); err == nil {
				tools[page] = append(tools[page], item.Name)
			}
		}
		return tools
	}))
}

// indexed returns a function that finds the value of an item by its key. keyed returns the key and the value of an
// item. The first item with a key wins.
func indexed[T any](e *Engine, kind *kinds.Kind,
	keyed func(item.Item) (key string, value T)) func(context.Context, string) (T, error) {
	type entry struct {
		value   T
		refusal error
	}
	find := lookup(derived(e, kind, func(list *registry.List) map[string]entry {
		index := make(map[string]entry, len(list.Items))
		add := func(i item.Item, refusal error) {
			key, value := keyed(i)
			if _, ok := index[key]; !ok {
				index[key] = entry{value, refusal}
			}
		}
		for _, item := range list.Items {
			add(item, nil)
		}
		for i := range list.Withheld {
			add(list.Withheld[i].Item, list.Withheld[i].Refusal(kind))
		}
		return index
	}))
	return func(ctx context.Context, key string) (value T, err error) {
		found, err := find(ctx, key)
		if err == nil && found.refusal != nil {
			return value, found.refusal
		}
		return found.value, err
	}
}

// lookup returns a function that finds the value of a key in the current index.
func lookup[T any](index func(context.Context) (map[string]T, error)) func(context.Context, string) (T, error) {
	return func(ctx context.Context, key string) (T, error) {
		of, err := index(ctx)
		return of[key], err
	}
}

// bound returns a function that reports whether a resource is bound to the provider of a scheme.
func (e *Engine) bound() func(ctx context.Context, scheme string) (bool, error) {
	return lookup(derived(e, kinds.Resources, func(list *registry.List) map[string]bool {
		return resource.Bound(e.Project, list.Items)
	}))
}

// derived returns a function for the value that make computes from the current items of a kind. It caches the value
// until the items change. Its error is for the client.
func derived[T any](e *Engine, kind *kinds.Kind,
	make func(list *registry.List) T) func(ctx context.Context) (T, error) {
	var mu sync.Mutex
	var of *registry.List // the items that made was computed from
	var made T
	return func(ctx context.Context) (T, error) {
		list, err := e.Catalog.List(ctx, kind)
		if err != nil {
			var none T
			return none, kind.Unavailable(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if of != list {
			of, made = list, make(list)
		}
		return made, nil
	}
}

func templateOf(item json.RawMessage) string { return rawjson.TextOf(item, kinds.URITemplate) }

// Referred returns the entry for a URI, or nil. It prefers the resource with this URI, then the template with this
// text, then a template that matches it.
func (e *Engine) Referred(ctx context.Context, uri string) (json.RawMessage, error) {
	switch entry, err := e.ResourceByURI(ctx, uri); {
	case err != nil:
		return nil, err
	case entry != nil:
		return entry.JSON, nil
	}
	if entry, err := e.TemplateByText(ctx, uri); entry != nil || err != nil {
		return entry, err
	}
	templates, err := e.Templates(ctx)
	if t, _, ok := templates.Match(uri); ok && err == nil {
		return e.TemplateByText(ctx, t.Text)
	}
	return nil, err
}
