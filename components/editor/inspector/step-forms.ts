import dynamic from 'next/dynamic';
import type { ComponentType, ReactNode } from 'react';
import type { Json, Step } from '../../../server/domains/workflows/edits/index.ts';
import type { StepField } from '../step-fields.ts';
import type { Problem } from '../use-draft.ts';
import type { InspectorProps } from './inspector.tsx';

/** The props of a form for a single step type. */
export type StepFormProps = Pick<InspectorProps, 'workflowId' | 'loop' | 'store' | 'types' | 'unfinished'> & {
  step: Step;
  /** The fields of the type in the order of its schema, required fields first. */
  fields: readonly StepField[];
  readOnly: boolean;
  /** Renders a field by its schema, with its problems; null if the type has no such field. */
  draw: (name: string) => ReactNode;
  /** Changes fields in one edit, which a single undo reverts; undefined removes a field. */
  set: (values: Readonly<Record<string, Json | undefined>>) => void;
  /** Returns the first problem of a field. */
  problemOf: (name: string, severity: Problem['severity']) => string | undefined;
};

/** The forms for single step types, each loaded when a step of the type is selected. Other types show the fields of their schema. */
export const stepForms: Readonly<Record<string, ComponentType<StepFormProps>>> = {
  human_task: dynamic(() => import('../forms/human-task/human-task-form.tsx').then(module => module.HumanTaskForm)),
  condition: dynamic(() => import('../forms/condition/condition-form.tsx').then(module => module.ConditionForm)),
  http_request: dynamic(() => import('../forms/http-request/http-form.tsx').then(module => module.HttpForm)),
  wait: dynamic(() => import('../forms/wait/wait-form.tsx').then(module => module.WaitForm)),
};
