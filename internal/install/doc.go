// Package install writes the entry of a server into the configuration of an MCP client,
// and takes it out again.
//
// A configuration belongs to its user: everything in it that is not the entry keeps its
// bytes, comments and order included. An edit is therefore a few small changes of the
// text, and never a text that was written anew. [Client.Uninstall] gives back, byte for
// byte, the file that [Client.Install] found, as long as nobody has changed it between.
//
// There is no record of what was installed. Where the layout of the text does not say
// by itself what was there before the entry, install writes the entry in a layout that
// does: a container that was there and empty is filled on one line, one that install
// made has several.
package install
