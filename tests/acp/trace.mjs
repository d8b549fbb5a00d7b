/**
 * What a client is told, a line for each update. Only what hosts act on is kept: kinds, ids of options, statuses, modes, and the
 * model's words, which are the script's. Texts of the CLI and of the adapter themselves are not.
 */

/** Updates whose number and place are a race, or which the adapter sends of itself. */
const ELSEWHERE = new Set(['available_commands_update', 'session_info_update', 'config_option_update']);

export function told(update, world) {
  const kind = update.sessionUpdate;
  if (ELSEWHERE.has(kind)) return null;
  switch (kind) {
    case 'agent_message_chunk':
    case 'agent_thought_chunk':
    case 'user_message_chunk':
      return `${kind} ${JSON.stringify(world.hidesWords ? '…' : world.tidy(update.content.text ?? update.content.type))}`;
    case 'tool_call':
    case 'tool_call_update':
      return call(update, world);
    case 'plan':
      return `plan ${update.entries.map((entry) => `${entry.status}:${entry.content}`).join(' | ')}`;
    case 'current_mode_update':
      return `${kind} ${update.currentModeId}`;
    case 'usage_update':
      if (update.cost) return `${kind} ${update.used}/${update.size}`;
      // Where it stands among the tools' updates is a race.
      world.used.push(update.used);
      return null;
    default:
      return kind;
  }
}

/**
 * A call is told when it begins and when it ends. In how many steps its title and content come in between depends on whether its
 * permission is asked for before or after the adapter has read the stream, which is a race.
 */
function call(update, world) {
  const known = world.tools.get(update.toolCallId);
  const one = known ?? { name: update._meta?.claudeCode?.toolName ?? '', kind: update.kind, parts: new Set() };
  world.tools.set(update.toolCallId, one);
  one.title = update.title ?? one.title;
  for (const part of update.content ?? []) one.parts.add(`+${part.type}`);
  const [shown, final] = [JSON.stringify(world.tidy(one.title)), ['completed', 'failed'].includes(update.status)];
  if (final) return `call ${one.name} ${update.status} ${shown} ${[...one.parts].sort().join(' ')}`.trim();
  return known ? null : `call ${one.name} ${one.kind}`;
}

/**
 * The trace as it is compared. Pieces of one text are put together, because where it is cut is a matter of timing. Requests to the
 * client, its choices and what follows from them at once go to the end, in their order: the adapter answers them beside the
 * stream of messages, so their place in it is a race.
 */
export function comparable(lines) {
  const beside = /^(ask|choose|current_mode_update) /;
  const out = [];
  for (const line of lines.filter((one) => !beside.test(one))) {
    const chunk = /^(\w+_chunk) (".*")$/s.exec(line);
    const last = chunk && /^(\w+_chunk) (".*")$/s.exec(out.at(-1) ?? '');
    if (last && last[1] === chunk[1]) {
      const [before, more] = [JSON.parse(last[2]), JSON.parse(chunk[2])];
      out[out.length - 1] = `${chunk[1]} ${JSON.stringify(more === '…' ? more : before + more)}`;
    } else {
      out.push(line);
    }
  }
  return [...out, ...lines.filter((line) => beside.test(line))];
}
