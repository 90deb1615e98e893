import { expect, test } from 'vitest';
import { startScopes } from './start-scopes.ts';

test.each<[string, unknown, string[]]>([
  ['scripts alone', [{ type: 'lua_script' }], ['workflow:run']],
  ['a request', [{ type: 'http_request' }], ['workflow:run', 'mcp:execute']],
  ['a model in a loop', [{ type: 'for_each', steps: [{ type: 'llm_call' }] }], ['workflow:run', 'ai:use']],
  ['an agent', [{ type: 'agent' }], ['workflow:run', 'mcp:execute', 'ai:use']],
  ['a called workflow', [{ type: 'call_workflow' }], ['workflow:run', 'mcp:execute', 'ai:use']],
  ['no steps', undefined, ['workflow:run']],
])('a token that starts %s has the scopes for it alone', (_, steps, scopes) => {
  expect(startScopes(steps)).toEqual(scopes);
});
