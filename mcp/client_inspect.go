package mcp

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A ServerInfo is what a server says of itself and offers.
type ServerInfo struct {
	// Version is the server's version, Protocol the version of the protocol that was
	// agreed on.
	Version, Protocol string
	// Tools are the names of the tools, Prompts those of the prompts, in the order of
	// the server.
	Tools, Prompts []string
}

// Inspect asks the server for all tools and prompts. The error is [ErrServerGone], ctx's
// own, or wraps [ErrRejected].
func (c *Client) Inspect(ctx context.Context) (ServerInfo, error) {
	c.calling.Lock()
	defer c.calling.Unlock()
	var info ServerInfo
	if r := c.session.InitializeResult(); r != nil {
		info.Protocol = r.ProtocolVersion
		if r.ServerInfo != nil {
			info.Version = r.ServerInfo.Version
		}
	}
	for t, err := range c.session.Tools(ctx, &sdk.ListToolsParams{}) {
		if err != nil {
			return info, callError(ctx, err)
		}
		info.Tools = append(info.Tools, t.Name)
	}
	if r := c.session.InitializeResult(); r == nil || r.Capabilities == nil || r.Capabilities.Prompts == nil {
		return info, nil
	}
	for p, err := range c.session.Prompts(ctx, &sdk.ListPromptsParams{}) {
		if err != nil {
			return info, callError(ctx, err)
		}
		info.Prompts = append(info.Prompts, p.Name)
	}
	return info, nil
}

// callError returns the error of a request that has no result.
func callError(ctx context.Context, err error) error {
	var wire *jsonrpc.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &wire):
		return errors.Join(ErrRejected, errors.New(wire.Message))
	}
	return ErrServerGone
}
