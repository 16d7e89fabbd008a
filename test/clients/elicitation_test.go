//go:build unix

package clients

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

// A user answers questions by what they begin with.
type user map[string]*mcp.ElicitResult

func (u user) client(modes *mcp.ElicitationCapabilities) mcp.ClientOptions {
	return mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{Elicitation: modes},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			for beginning, answer := range u {
				if strings.HasPrefix(r.Params.Message, beginning) && answer != nil {
					return answer, nil
				}
			}
			return nil, errors.New("the user has left")
		},
	}
}

func accept(content map[string]any) *mcp.ElicitResult {
	return &mcp.ElicitResult{Action: "accept", Content: content}
}

var (
	forms        = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}
	formsAndURLs = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{},
		URL: &mcp.URLElicitationCapabilities{}}
)

// examples/05-elicitation, order-pizza: three questions of different kinds (SDK-145), and only about
// missing arguments.
func TestQuestions(t *testing.T) { withAll(t, testQuestions) }

func testQuestions(t *testing.T, protocol string) {
	t.Parallel()
	hungry := user{
		"Which size?":     accept(map[string]any{"choice": "large"}),
		"Which toppings?": accept(map[string]any{"choices": []any{"olives", "basil"}}),
		"Order a large pizza with olives and basil?": accept(map[string]any{"confirmed": true}),
		"Order a small pizza with cheese?":           accept(map[string]any{"confirmed": false}),
	}
	s := open(t, checkout.Example(t, "05-elicitation"), opening{revision: protocol, client: hungry.client(forms)})
	type order struct {
		Result struct {
			Size     string
			Toppings []string
		}
	}
	got := structured[order](t, s.succeed("order-pizza", nil)).Result
	if got.Size != "large" || !slices.Equal(got.Toppings, []string{"olives", "basil"}) {
		t.Errorf("%+v", got)
	}
	if asked := s.questions(); asked != 3 {
		t.Errorf("%d questions", asked)
	}
	if got := text(t, s.succeed("order-pizza", arguments{"size": "small",
		"toppings": []string{}})); got != "Nothing ordered: you declined." {
		t.Errorf("%q", got)
	}
	if asked := s.questions(); asked != 4 {
		t.Errorf("%d questions", asked)
	}
	s.succeed("order-pizza", arguments{"size": "small", "toppings": []string{"capers"}, "confirmed": true})
	if asked := s.questions(); asked != 4 {
		t.Errorf("%d questions", asked)
	}
}

// The ways not to answer (P-2203).
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	project := checkout.Example(t, "05-elicitation")
	for name, tc := range map[string]struct {
		answer *mcp.ElicitResult
		want   string
	}{
		"decline": {&mcp.ElicitResult{Action: "decline"}, "Not signed up: you declined."},
		"cancel":  {&mcp.ElicitResult{Action: "cancel"}, "Not signed up: you closed the question."},
	} {
		s := open(t, project, opening{client: user{"Who are you?": tc.answer}.client(forms)})
		if got := text(t, s.succeed("sign-up", nil)); got != tc.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	s := open(t, project, opening{client: user{}.client(forms)})
	if got := s.refuse("sign-up", nil, "no_answer"); got != "Not signed up: no answer came." {
		t.Error(got)
	}
	if got := s.logged("mcp.elicitation"); len(got) != 1 || !strings.HasPrefix(got[0],
		"warning: Client error: code=") || !strings.HasSuffix(got[0], "message=the user has left") {
		t.Errorf("%q", got)
	}
}

// examples/05-elicitation, sign-up: a form of several fields.
func TestForm(t *testing.T) { withAll(t, testForm) }

func testForm(t *testing.T, protocol string) {
	t.Parallel()
	ada := user{"Who are you?": accept(map[string]any{"name": "Ada", "email": "ada@example.com", "age": 36})}
	s := open(t, checkout.Example(t, "05-elicitation"), opening{revision: protocol, client: ada.client(forms)})
	type form struct {
		Result struct {
			Name, Email string
			Age         int
			Newsletter  bool
		}
	}
	if got := structured[form](t, s.succeed("sign-up", nil)).Result; got.Name != "Ada" ||
		got.Email != "ada@example.com" || got.Age != 36 || got.Newsletter {
		t.Errorf("%+v", got)
	}
}

// examples/05-elicitation, link-account (P-2200, P-2202).
func TestURL(t *testing.T) { withAll(t, testURL) }

func testURL(t *testing.T, protocol string) {
	t.Parallel()
	project := checkout.Example(t, "05-elicitation")
	asked := make(chan *mcp.ElicitParams, 1)
	options := user{}.client(formsAndURLs)
	options.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		asked <- r.Params
		return &mcp.ElicitResult{Action: "accept"}, nil
	}
	s := open(t, project, opening{revision: protocol, client: options})
	if got := text(t, s.succeed("link-account", nil)); !strings.HasPrefix(got, "The page was opened.") {
		t.Error(got)
	}
	if p := <-asked; p.Mode != "url" || p.URL != "https://example.com/link" || p.Message != "Link your account" ||
		(p.ElicitationID == "") != strings.HasPrefix(protocol, stateless) {
		t.Errorf("%+v", p)
	}
	// A client that shows forms and opens no pages is not asked.
	s = open(t, project, opening{revision: protocol, client: user{}.client(forms)})
	if got := text(t, s.succeed("link-account", nil)); got != "Not linked: you declined." {
		t.Errorf("%q", got)
	}
	if n := s.questions(); n != 0 {
		t.Errorf("%d questions", n)
	}
}

// examples/05-elicitation with a client that cannot ask (T-71).
func TestWithoutElicitation(t *testing.T) { inBothProtocols(t, testWithoutElicitation) }

func testWithoutElicitation(t *testing.T, protocol string) {
	t.Parallel()
	s := open(t, checkout.Example(t, "05-elicitation"), opening{revision: protocol})
	for _, name := range tools["05-elicitation"] {
		if got := s.refuse(name, nil, "cannot_ask"); got != "This client cannot ask the user." {
			t.Errorf("%s: %q", name, got)
		}
	}
	s.succeed("order-pizza", arguments{"size": "small", "toppings": []string{"capers"}, "confirmed": true})
}

// A call that is cancelled while its question is open: the question is taken
// back (P-1604).
func TestQuestionOfCancelledCall(t *testing.T) { inBothProtocols(t, testQuestionOfCancelledCall) }

func testQuestionOfCancelledCall(t *testing.T, protocol string) {
	t.Parallel()
	asked, takenBack := make(chan bool), make(chan bool)
	options := user{}.client(forms)
	options.ElicitationHandler = func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		close(asked)
		<-ctx.Done() // notifications/cancelled
		close(takenBack)
		return nil, ctx.Err()
	}
	s := open(t, checkout.Example(t, "05-elicitation"), opening{revision: protocol, client: options})
	ctx, cancel := context.WithCancel(s.deadline())
	ended := make(chan error, 1)
	go func() {
		_, err := s.request(ctx, "sign-up", nil)
		ended <- err
	}()
	<-asked
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	select {
	case <-takenBack:
	case <-s.deadline().Done():
		t.Error("the question was not taken back")
	}
}
