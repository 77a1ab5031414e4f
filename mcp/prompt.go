package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tailrace/tailrace/internal/inventory"
	"github.com/tailrace/tailrace/internal/lazyregexp"
	"github.com/tailrace/tailrace/internal/project"
)

// InitPrompt is the name of the prompt that sets up a repository.
const InitPrompt = "hack-init"

// maxPrompt is the longest text of a prompt, in bytes. The text is fixed and the
// inventory bounded, so it is a bound on faults.
const maxPrompt = 64 << 10

// The modes of the prompt. Any other means the second.
const (
	modeNew      = "new-project"
	modeExisting = "existing-project"
)

var (
	slugRE = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_. -]{0,252}$`)
	// folderRE is stricter: whoever made the repository may have chosen its name.
	folderRE = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)
	hostRE   = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$`)
)

// A promptArgument is one argument of the prompt.
type promptArgument struct {
	name, about string
}

// promptArguments are the arguments of the prompt. Each is optional.
var promptArguments = []promptArgument{
	{"repoRoot", "Root folder of the repository, absolute or relative to the server's working directory: a folder that holds .git, or one in a registered project or in that directory. " +
		"The prompt then has an inventory of it, which takes the place of the other arguments."},
	{"mode", "new-project or existing-project. Anything else means existing-project, as nothing does."},
	{"projectName", "Name of the project: letters, digits, dots, dashes, underscores and spaces, at most 253."},
	{"devHost", "Host name that the services are below in development, such as shop.localhost."},
}

// prompt returns the prompt as prompts/list shows it.
func prompt() *sdk.Prompt {
	p := &sdk.Prompt{
		Name:        InitPrompt,
		Title:       "Set up a repository",
		Description: "Instructions for setting up a repository as a project, or for checking one that is set up. With repoRoot they have a bounded inventory of it, without values of variables.",
	}
	for _, a := range promptArguments {
		p.Arguments = append(p.Arguments, &sdk.PromptArgument{Name: a.name, Description: a.about})
	}
	return p
}

// capabilities are what the server says it can do. The lists do not change.
func capabilities() *sdk.ServerCapabilities {
	return &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Prompts: &sdk.PromptCapabilities{}}
}

// hints are what a prompt is made for.
type hints struct {
	mode, projectName, devHost string
	// inventory is JSON on several lines; "" for none.
	inventory string
}

// getPrompt answers prompts/get.
func (s *server) getPrompt(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	ctx, cancel := s.merge(ctx, s.conn.callOf(req.GetExtra()))
	defer cancel()
	h, err := s.hints(ctx, req.Params.Arguments)
	if err != nil {
		return nil, err
	}
	text := h.text()
	if len(text) > maxPrompt {
		return nil, errInternal
	}
	return &sdk.GetPromptResult{
		Description: prompt().Description,
		Messages:    []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}},
	}, nil
}

// hints reads the arguments of the prompt. The error is a *[protocolError], which repeats
// nothing of them. An empty argument means the same as none.
func (s *server) hints(ctx context.Context, args map[string]string) (h hints, err error) {
	for name := range args {
		if !slices.ContainsFunc(promptArguments, func(a promptArgument) bool { return a.name == name }) {
			return h, refusedPrompt(invalid("an argument is not known; the arguments of this prompt are repoRoot, mode, projectName, devHost"))
		}
	}
	if root := args["repoRoot"]; root != "" {
		return s.inventoried(ctx, root)
	}
	h = hints{mode: modeExisting, projectName: args["projectName"], devHost: args["devHost"]}
	if args["mode"] == modeNew {
		h.mode = modeNew
	}
	switch {
	case h.projectName != "" && !slugRE.MatchString(h.projectName):
		return h, refusedPrompt(invalid("projectName must be a letter or digit, then letters, digits, dots, dashes, underscores or spaces, at most 253"))
	case h.devHost != "" && !hostRE.MatchString(h.devHost):
		return h, refusedPrompt(invalid("devHost must be a host name: letters, digits, dots and dashes, at most 253"))
	}
	return h, nil
}

// inventoried returns the hints that a repository itself gives.
func (s *server) inventoried(ctx context.Context, root string) (h hints, err error) {
	dir, err := s.project.RepoRoot(root)
	if err != nil {
		return h, refusedPrompt(refusedSelection(err))
	}
	found, err := inventory.Read(ctx, dir, inventory.Limits{})
	switch {
	case errors.Is(err, inventory.ErrFolder):
		return h, refusedPrompt(refusedSelection(&project.SelectError{Code: project.CodePermission, Reason: project.ReasonUnreadable, Argument: "repoRoot"}))
	case err != nil:
		return h, errDropped
	}
	h.mode = modeNew
	if found.Definition != "" {
		h.mode = modeExisting
	}
	if name := filepath.Base(dir); folderRE.MatchString(name) {
		h.projectName = name
	}
	var b bytes.Buffer
	if err := json.Indent(&b, encode(found), "", " "); err != nil {
		return h, errInternal
	}
	h.inventory = b.String()
	return h, nil
}

// refusedPrompt returns the protocol error of a prompt that was refused. Its data has the
// code and the reason that a result of a tool would have.
func refusedPrompt(r *refusal) *protocolError {
	code := int64(jsonrpc.CodeInvalidParams)
	if r == internalError {
		code = jsonrpc.CodeInternalError
	}
	return &protocolError{code: code, text: "invalid params: " + r.message, data: encode(struct {
		Code   string `json:"code"`
		Reason string `json:"reason"`
	}{r.code, r.reason})}
}

// text returns the text of the prompt.
func (h hints) text() string {
	name, host := "`"+h.projectName+"`", h.devHost
	if h.projectName == "" {
		name = "this repository"
	}
	if host == "" {
		host = "PROJECT.localhost"
	}
	goal, setUp := goalExisting, setUpExisting
	if h.mode == modeNew {
		goal, setUp = goalNew, setUpNew
	}
	found := ""
	if h.inventory != "" {
		found = inventoryHead + "\n```json\n" + h.inventory + "\n```\n"
	}
	return strings.NewReplacer("{mode}", h.mode, "{name}", name, "{host}", host, "{goal}", goal, "{setup}", setUp, "{inventory}", found).Replace(promptText)
}
