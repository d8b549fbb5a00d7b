//! MCP in and out of the control channel, on rmcp.
