"""Tools of MCP servers that the user's settings name (docs/mcp.md). `servers.connected` is the way in."""
