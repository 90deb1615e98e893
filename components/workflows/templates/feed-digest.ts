import { INSTANCE, type Template } from './template.ts';

const digest = `local topic = string.lower(input.topic or "")
local lines = {}
for _, entry in ipairs(steps.feed.result.entries) do
  local text = string.lower(entry.title .. " " .. entry.summary)
  if topic == "" or text:find(topic, 1, true) then
    lines[#lines + 1] = "- [" .. entry.title .. "](" .. entry.link .. "): " .. entry.summary
  end
end
local title = steps.feed.result.title
return { count = #lines, text = "## " .. title .. "\\n" .. table.concat(lines, "\\n") }`;

export const feedDigest: Template = {
  slug: 'feed-digest',
  name: 'Feed digest',
  sentence: 'Reads a feed with an MCP tool and turns the entries on your topic into a digest.',
  needs: [{ kind: 'mcp_instance', tool: 'read_feed', label: 'an MCP instance with the tool read_feed' }],
  sampleInput: { topic: 'release', limit: 10 },
  graph: {
    input_schema: {
      type: 'object',
      properties: {
        topic: { type: 'string', description: 'A word that the entries contain. Empty: all of them.' },
        limit: { type: 'integer', minimum: 1, maximum: 20, description: 'Entries to read.' },
      },
    },
    steps: [
      {
        id: 'feed',
        type: 'mcp_call',
        name: 'Read the feed',
        instance_id: INSTANCE,
        tool_name: 'read_feed',
        tool_args: { limit: '{{input.limit ?? 10}}' },
        timeout_s: 30,
        retry_count: 3,
      },
      { id: 'digest', type: 'lua_script', name: 'Write the digest', script: digest, depends_on: ['feed'] },
    ],
    output: '{{steps.digest.result}}',
  },
};
