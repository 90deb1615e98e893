import { describe, expect, it } from 'vitest';
import type { Role } from '../../ports/authority.ts';
import { decideCall, type Standing } from './run-authority.ts';

const heldStanding = (role: Role, scopes: readonly string[] = ['mcp:execute']): Standing => ({
  kind: 'held',
  userId: '018f0000-0000-7000-8000-000000000001',
  email: 'ada@example.com',
  role,
  scopes,
});
const write = { readOnly: false, scope: 'mcp:execute', approved: false };

describe('decideCall', () => {
  it("lets a viewer's agent read, and asks before anything else", () => {
    expect(decideCall(heldStanding('project_viewer'), { ...write, readOnly: true }).kind).toBe('allowed');
    expect(decideCall(heldStanding('project_viewer'), write).kind).toBe('ask');
    expect(decideCall(heldStanding('project_viewer'), { ...write, approved: true }).kind).toBe('allowed');
  });

  it('allows contributors and administrators every call', () => {
    for (const role of ['project_contributor', 'tenant_admin'] as const) {
      expect(decideCall(heldStanding(role), write)).toEqual({ kind: 'allowed' });
    }
  });

  it('refuses a call without the scope, and every call without rights, even if it was approved', () => {
    const lacking = decideCall(heldStanding('tenant_admin', ['ai:use']), { ...write, approved: true });
    expect(lacking).toMatchObject({ kind: 'refused', code: 'authority_lost' });
    const lost: Standing = { kind: 'lost', code: 'authority_lost', message: 'The token was revoked.' };
    expect(decideCall(lost, { readOnly: true, scope: 'mcp:execute', approved: true })).toEqual({
      kind: 'refused',
      code: 'authority_lost',
      message: 'The token was revoked.',
    });
  });
});
