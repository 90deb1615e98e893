import type { Template } from './template.ts';

const clean = `local kept, refused, seen = {}, {}, {}
for _, contact in ipairs(input.contacts) do
  local email = string.lower((contact.email or ""):match("^%s*(.-)%s*$"))
  if not email:match("^[^@%s]+@[^@%s]+%.[^@%s]+$") then
    refused[#refused + 1] = { name = contact.name, email = contact.email, why = "no email address" }
  elseif seen[email] then
    refused[#refused + 1] = { name = contact.name, email = contact.email, why = "is there twice" }
  else
    seen[email] = true
    kept[#kept + 1] = { name = contact.name, email = email }
  end
end
log(#kept .. " kept, " .. #refused .. " refused")
return { contacts = json.array(kept), refused = json.array(refused) }`;

export const contactCleanup: Template = {
  slug: 'contact-cleanup',
  name: 'Contact cleanup',
  sentence: 'Normalizes a list of contacts, removes duplicates, and fails if no address is valid.',
  needs: [],
  sampleInput: {
    contacts: [
      { name: 'Ada', email: ' Ada@Example.com ' },
      { name: 'Ada L.', email: 'ada@example.com' },
      { name: 'Charles', email: 'unknown' },
    ],
  },
  graph: {
    input_schema: {
      type: 'object',
      required: ['contacts'],
      properties: {
        contacts: {
          type: 'array',
          maxItems: 10_000,
          description: 'The list, each with a name and an email address.',
          items: { type: 'object', properties: { name: { type: 'string' }, email: { type: 'string' } } },
        },
      },
    },
    steps: [
      { id: 'clean', type: 'lua_script', name: 'Clean the list', script: clean },
      {
        id: 'check',
        type: 'condition',
        name: 'Any left?',
        mode: 'validate',
        expression: 'size(steps.clean.result.contacts) > 0',
        message: 'None of the contacts has a valid email address.',
        depends_on: ['clean'],
      },
    ],
    output: '{{steps.clean.result}}',
  },
};
