'use client';
import type { Edit, Graph } from '../../../server/domains/workflows/edits/index.ts';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Field, Input, Textarea } from '../../ui/field.tsx';
import { change } from '../change.ts';
import type { InspectorProps } from './inspector.tsx';

type Tool = NonNullable<Graph['tool']>;

/** Offers the published workflow as a tool to agents and MCP clients, with a tool name and a description. */
export function WorkflowToolFields({ store, problems, editable }: InspectorProps) {
  const { tool } = store.state.draft.graph;
  const save = (next: Tool | undefined, field: string) => {
    const edit: Edit =
      next === undefined ? { type: 'update_graph', unset: ['tool'] } : { type: 'update_graph', set: { tool: next } };
    change(store, [edit], `graph.tool.${field}`);
  };
  const changeField = (field: keyof Tool, value: string | boolean) => {
    const { [field]: _, ...others } = tool ?? {};
    save(value === '' || value === false ? others : { ...others, [field]: value }, field);
  };
  const problemOf = (field: string) =>
    problems.find(({ step_id, path }) => step_id === null && path === `tool.${field}`)?.message;
  return (
    <fieldset className="flex flex-col gap-3">
      <Checkbox
        label="Offer as a tool"
        hint="Agents and MCP clients can call the published workflow and get its output."
        checked={tool !== undefined}
        disabled={!editable}
        onCheckedChange={checked => save(checked ? {} : undefined, 'on')}
      />
      {tool === undefined ? null : (
        <>
          <Field
            label="Tool name"
            hint="A letter or _, followed by letters, digits, _ and -. Default: based on the name of the workflow."
            error={problemOf('name')}
            optional
          >
            <Input
              value={tool.name ?? ''}
              maxLength={64}
              readOnly={!editable}
              onChange={({ target: { value } }) => changeField('name', value)}
            />
          </Field>
          <Field
            label="Tool description"
            hint="Tells models what the tool does. Default: the description of the workflow."
            error={problemOf('description')}
            optional
          >
            <Textarea
              rows={3}
              value={tool.description ?? ''}
              maxLength={2_000}
              readOnly={!editable}
              onChange={({ target: { value } }) => changeField('description', value)}
            />
          </Field>
          <Checkbox
            label="Read-only"
            hint={
              problemOf('read_only') ?? 'Agents call it without asking. Use this only if the workflow makes no changes.'
            }
            checked={tool.read_only === true}
            disabled={!editable}
            onCheckedChange={checked => changeField('read_only', checked)}
          />
        </>
      )}
    </fieldset>
  );
}
