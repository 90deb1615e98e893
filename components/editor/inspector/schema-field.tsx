'use client';
import dynamic from 'next/dynamic';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Field } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { fieldText } from '../step-fields.ts';
import { ValueInput } from '../values/value-input.tsx';
import { AgentToolsField } from './agent-tools-field.tsx';
import { ToolArgumentsField } from './arguments-field.tsx';
import { CallInputField, VersionField } from './call-fields.tsx';
import { choiceHint, choiceOptions } from './choice-words.ts';
import { CodeField, JsonField, type SchemaFieldProps } from './code-field.tsx';
import { explained } from './field-help.tsx';
import type { OpenLoop } from './inspector.tsx';
import { AgentField, InstanceField, ModelField, ToolField } from './pickers.tsx';
import { TypedField } from './typed-field.tsx';
import { WorkflowField } from './workflow-picker.tsx';

const AnswerField = dynamic(() => import('../forms/answer-field.tsx').then(module => module.AnswerField));
const LimitsField = dynamic(() => import('../forms/agent/limits-field.tsx').then(module => module.LimitsField));
const MemoryField = dynamic(() => import('../forms/agent/memory-field.tsx').then(module => module.MemoryField));
const LoopStepsField = dynamic(() =>
  import('../forms/for-each/loop-steps-field.tsx').then(module => module.LoopStepsField),
);

/** The control for one field of a step, chosen by the schema of the field. */
export function SchemaField({ onOpenLoop, ...props }: SchemaFieldProps & { onOpenLoop?: OpenLoop }) {
  const { field, value, onChange, problem, readOnly } = props;
  const { label, required } = field;
  const help = explained(field.hint, label);
  switch (field.kind) {
    case 'lua':
    case 'cel':
    case 'long':
      return <CodeField {...props} text={typeof value === 'string' ? value : fieldText('json', value)} />;
    case 'json':
      return <JsonField {...props} />;
    case 'instance':
      return <InstanceField {...props} />;
    case 'tool':
      return <ToolField key={String(props.step.instance_id)} {...props} />;
    case 'arguments':
      return <ToolArgumentsField key={`${props.step.instance_id}/${props.step.tool_name}`} {...props} />;
    case 'workflow':
      return <WorkflowField {...props} field={{ ...field, label: 'Workflow' }} templates />;
    case 'version':
      return <VersionField key={String(props.step.workflow_id)} {...props} />;
    case 'input':
      return <CallInputField key={`${props.step.workflow_id}/${props.step.version}`} {...props} />;
    case 'tools':
      return <AgentToolsField {...props} />;
    case 'limits':
      return <LimitsField {...props} />;
    case 'memory':
      return <MemoryField {...props} />;
    case 'schema':
      return <AnswerField {...props} />;
    case 'steps':
      return onOpenLoop ? <LoopStepsField {...props} onOpenLoop={onOpenLoop} /> : <JsonField {...props} />;
    case 'model':
      return <ModelField {...props} />;
    case 'agent':
      return <AgentField {...props} />;
    case 'flag':
      return (
        <Checkbox
          label={label}
          {...help}
          checked={value === true}
          disabled={readOnly}
          onCheckedChange={checked => onChange(checked ? true : undefined)}
        />
      );
    case 'choice':
      return (
        <Field label={label} {...explained(choiceHint(field), label)} error={problem} required={required}>
          <Select
            value={typeof value === 'string' ? value : ''}
            disabled={readOnly}
            onChange={next => onChange(next === '' ? undefined : next)}
            options={choiceOptions(field.name, field.choices, required)}
          />
        </Field>
      );
    case 'text':
      return (
        <Field label={label} {...help} error={problem} required={required}>
          <ValueInput
            label={label}
            step={props.step.id}
            value={typeof value === 'string' ? value : ''}
            readOnly={readOnly}
            onChange={next => onChange(next === '' && !required ? undefined : next)}
          />
        </Field>
      );
    case 'number':
    case 'list':
      return <TypedField {...props} />;
  }
}
