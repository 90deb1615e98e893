import { isObject } from '../../../platform/json.ts';
import type { StepPreview } from '../../ports/step-declarations.ts';
import { fieldText, textOf, withShortTemplates } from '../preview-parts.ts';

export const preview: StepPreview = {
  starter: { instructions: '' },
  liveEffect: ({ instructions, name, id }) => `Asks: ${fieldText(instructions) || fieldText(name) || fieldText(id)}`,
  result: ({ form }, exampleOf) => {
    const fields = exampleOf(form);
    return { ...(isObject(fields) ? fields : {}), approved: true, completed_by: '', completed_at: '' };
  },
  summary: ({ assignees }) => `Ask ${describeAssignees(assignees)}`,
};

const ROLES: Readonly<Record<string, string>> = {
  project_contributor: 'contributors',
  tenant_admin: 'admins',
  run_starter: 'whoever started it',
};

function describeAssignees(assignees: unknown): string {
  const named = Array.isArray(assignees) ? assignees.map(textOf).filter(Boolean) : [];
  const [first, ...others] = named.map(name => ROLES[name] ?? (withShortTemplates(name).split('@', 1)[0] || name));
  if (first === undefined) return 'any contributor';
  return others.length === 0
    ? first
    : others.length === 1
      ? `${first} and ${others[0]}`
      : `${first} and ${others.length} others`;
}
