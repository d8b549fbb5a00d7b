# An MCP server in a few lines of shell: it reads JSON-RPC from stdin, a message a line, and knows when the tide comes in.

while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
  version=$(printf '%s' "$line" | sed -n 's/.*"protocolVersion":"\([^"]*\)".*/\1/p')
  case "$line" in
    *'"method":"initialize"'*)
      result='{"protocolVersion":"'$version'","capabilities":{"tools":{}},"serverInfo":{"name":"harbour","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      result='{"tools":[{"name":"tide","description":"Says when the tide comes in","inputSchema":{"type":"object","properties":{}}}]}' ;;
    *'"method":"tools/call"'*)
      result='{"content":[{"type":"text","text":"High water is at '$(date -d '+6 hours' +%H:%M 2>/dev/null || echo noon)'."}]}' ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
